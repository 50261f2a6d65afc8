import { LRUCache } from "lru-cache";
import { RateLimited } from "../domain/errors.ts";
import { clientNetwork } from "./client-network.ts";

/** Maximum failed attempts per client and minute that are answered with 401. */
export const maxFailuresPerMinute = 30;
/** Bounds the memory: the least recently seen client is evicted. */
const maxClients = 50_000;
const minuteMs = 60_000;

/** Where credentials are presented. Failures at one do not count at another. */
export type AccessPoint = "website" | "admin" | "websocket";

export type FailedAttempts = ReturnType<typeof createFailedAttempts>;

/**
 * Limits the 401s for wrong secrets per client and minute (UTC): further wrong secrets get 429, which bounds the retries of
 * a misconfigured client. Credentials are checked first, and correct ones are never refused, because anyone may share an
 * address with others, and any web page can send requests from its visitors' addresses. It is therefore no protection
 * against guessing: that is the length of the secrets.
 *
 * A client is an IPv4 address or an IPv6 /64. Only secrets count: a request without credentials, a public key from an
 * unverified origin, and an access token, which is signed, get 401.
 */
export const createFailedAttempts = ({ clock }: { clock: () => number }) => {
  // `max` would allocate lists of this length at once: 4 ms and 1 MB.
  const failures = new LRUCache<string, { minute: number; count: number }>({
    maxSize: maxClients,
    sizeCalculation: () => 1,
  });

  return {
    /** Counts a wrong secret. The error for it, if the client has presented too many in this minute. */
    count: (client: string, at: AccessPoint): RateLimited | undefined => {
      const now = clock();
      const minute = Math.floor(now / minuteMs);
      const id = `${at} ${clientNetwork(client)}`;
      const known = failures.get(id);
      const count = known?.minute === minute ? known.count : 0;
      if (count >= maxFailuresPerMinute) return tooManyFailures(minuteMs - (now % minuteMs));
      failures.set(id, { minute, count: count + 1 });
      return undefined;
    },
  };
};

const tooManyFailures = (leftMs: number): RateLimited =>
  new RateLimited("Too many failed attempts from this address.", "failures", Math.ceil(leftMs / 1_000));
