import { LRUCache } from "lru-cache";
import type { Clock } from "../../async/clock.ts";
import { EngineFailed, Invalid } from "../../domain/errors.ts";
import type { ObjectName } from "../store/audio-store.ts";

/** Recent failures, so that not every request repeats a failing synthesis. */
export interface RecentFailures {
  add(name: ObjectName, failure: EngineFailed | Invalid): void;
  /** The failure, if it is recent, with the seconds until the next attempt. */
  of(name: ObjectName): EngineFailed | Invalid | undefined;
}

const mostRemembered = 1000;

export const createRecentFailures = (clock: Clock, rememberMs: number): RecentFailures => {
  const failures = new LRUCache<ObjectName, { failure: EngineFailed | Invalid; until: number }>({
    max: mostRemembered,
  });

  return {
    add: (name, failure) => void failures.set(name, { failure, until: clock.now() + rememberMs }),
    of: (name) => {
      const found = failures.get(name);
      if (!found) return undefined;
      const { failure, until } = found;
      const leftMs = until - clock.now();
      if (leftMs <= 0) {
        failures.delete(name);
        return undefined;
      }
      if (failure instanceof Invalid) return failure;
      const { message, permanent } = failure;
      const retryAfterSeconds = Math.max(failure.retryAfterSeconds ?? 0, Math.ceil(leftMs / 1000));
      return new EngineFailed(message, { cause: failure, permanent, retryAfterSeconds });
    },
  };
};
