import { LRUCache } from "lru-cache";
import { RateLimited } from "../../domain/errors.ts";
import { clientNetwork } from "./client-network.ts";

/**
 * Throttles guessing. A failed attempt is a request that presents a secret or a token which this service never issued.
 * A client that has made too many of them in the current minute (UTC) is refused until the minute ends, before its
 * credentials are checked: otherwise a right guess would still be recognised.
 *
 * A client is an IPv4 address or an IPv6 /64, so one guesser behind a NAT also blocks the others behind it. This is why
 * nothing else counts: requests without credentials, a public key from an unverified origin, and tokens that
 * have expired or were withdrawn are 401 and guess nothing.
 */
export interface FailedAttempts {
  /** To be called before credentials are looked at. @throws {RateLimited} for a throttled client */
  throwIfThrottled(client: string): void;
  /** Counts a failed attempt. */
  count(client: string): void;
}

/** Failed attempts that a client may make in a minute. */
export const maxFailuresPerMinute = 30;
/** Memory is bounded: past this many clients the one that was seen least recently is forgotten. */
const maxClients = 50_000;
const minuteMs = 60_000;

export const createFailedAttempts = ({ clock }: { clock: () => number }): FailedAttempts => {
  const failures = new LRUCache<string, { minute: number; count: number }>({ max: maxClients });
  const currentMinute = (): number => Math.floor(clock() / minuteMs);

  const countOf = (network: string): number => {
    const known = failures.get(network);
    return known?.minute === currentMinute() ? known.count : 0;
  };

  return {
    throwIfThrottled: (client) => {
      if (failures.size === 0 || countOf(clientNetwork(client)) < maxFailuresPerMinute) return;
      const secondsLeft = Math.ceil((minuteMs - (clock() % minuteMs)) / 1_000);
      throw new RateLimited("Too many failed attempts from this address.", "failures", secondsLeft);
    },
    count: (client) => {
      const network = clientNetwork(client);
      failures.set(network, { minute: currentMinute(), count: countOf(network) + 1 });
    },
  };
};
