import { LRUCache } from "lru-cache";
import { RateLimited, Unauthorized } from "../domain/errors.ts";
import { clientNetwork } from "./client-network.ts";

/** Counts wrong credentials by client, whatever form they came in. */
export interface FailedAttempts {
  /** Counts a failure and refuses it. @throws {Unauthorized} @throws {RateLimited} instead, after too many */
  refuse(client: string, message: string): never;
  /** For what is costly to look at. @throws {RateLimited} when the client's next failure would be refused as such */
  requireRoom(client: string): void;
}

/** Failures of one client in one minute that are answered as such. Right credentials pass all the same. */
export const maxFailuresPerMinute = 30;
const maxClients = 50_000;
const minuteMs = 60_000;

export const createFailedAttempts = ({ clock }: { clock: () => number }): FailedAttempts => {
  const failures = new LRUCache<string, { minute: number; count: number }>({ max: maxClients });
  const minuteNow = (): number => Math.floor(clock() / minuteMs);

  const countOf = (client: string): number => {
    const known = failures.get(clientNetwork(client));
    return known?.minute === minuteNow() ? known.count : 0;
  };

  const tooMany = (): RateLimited => {
    const secondsLeft = Math.ceil((minuteMs - (clock() % minuteMs)) / 1_000);
    return new RateLimited("Too many failed attempts from this address.", "failures", secondsLeft);
  };

  return {
    refuse: (client, message) => {
      const count = countOf(client) + 1;
      failures.set(clientNetwork(client), { minute: minuteNow(), count });
      throw count <= maxFailuresPerMinute ? new Unauthorized(message) : tooMany();
    },
    requireRoom: (client) => {
      if (countOf(client) >= maxFailuresPerMinute) throw tooMany();
    },
  };
};
