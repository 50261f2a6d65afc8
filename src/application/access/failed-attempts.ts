import { LRUCache } from "lru-cache";
import { RateLimited } from "../../domain/errors.ts";
import { clientNetwork } from "./client-network.ts";

/** Maximum failed attempts per client and minute. */
export const maxFailuresPerMinute = 30;
/** Bounds the memory: the least recently seen client is evicted. */
const maxClients = 50_000;
const minuteMs = 60_000;

export type FailedAttempts = ReturnType<typeof createFailedAttempts>;

/**
 * Throttles brute-force attempts. A failed attempt is a request with a secret or token that this service never issued.
 * A client with too many of them in the current minute (UTC) is refused until the minute ends, before its credentials are
 * checked: otherwise a correct guess would still succeed.
 *
 * A client is an IPv4 address or an IPv6 /64, so one attacker behind a NAT blocks the others behind it. Therefore nothing
 * else counts: requests without credentials, a public key from an unverified origin, and expired or withdrawn tokens
 * get 401 only.
 */
export const createFailedAttempts = ({ clock }: { clock: () => number }) => {
  // `max` would allocate lists of this length at once: 4 ms and 1 MB.
  const failures = new LRUCache<string, { minute: number; count: number }>({
    maxSize: maxClients,
    sizeCalculation: () => 1,
  });
  const currentMinute = (): number => Math.floor(clock() / minuteMs);

  const countOf = (network: string): number => {
    const known = failures.get(network);
    return known?.minute === currentMinute() ? known.count : 0;
  };

  return {
    /** To be called before credentials are checked. @throws {RateLimited} for a throttled client */
    throwIfThrottled: (client: string): void => {
      if (failures.size === 0 || countOf(clientNetwork(client)) < maxFailuresPerMinute) return;
      const secondsLeft = Math.ceil((minuteMs - (clock() % minuteMs)) / 1_000);
      throw new RateLimited("Too many failed attempts from this address.", "failures", secondsLeft);
    },
    /** Counts a failed attempt. */
    count: (client: string): void => {
      const network = clientNetwork(client);
      failures.set(network, { minute: currentMinute(), count: countOf(network) + 1 });
    },
  };
};
