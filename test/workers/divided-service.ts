import { setImmediate } from "node:timers/promises";
import { createConcurrencyLimit, createRateLimit, type Release, refusing } from "../../src/limits/limit.ts";
import { RateLimited, tryWithMore } from "../../src/limits/limits.ts";
import type { AskForMore } from "../../src/limits/shares.ts";
import { createLimitDivision } from "../../src/workers/divide-limits.ts";
import { createWorkerShares, type LimitCalls, type ShareCalls } from "../../src/workers/limit-shares.ts";
import { createManualTime } from "../support/manual-time.ts";
import { type Delivery, linkedPorts } from "./linked-ports.ts";

interface ServiceOptions {
  readonly atMost: number;
  /** If absent, each unit counts until it is released. */
  readonly windowMs?: number;
  /** Returns how long the next message takes. Default: a turn of the event loop. */
  readonly delayMs?: () => number;
}

/**
 * Creates workers that share one limit, and the process that divides it. The test controls the
 * time.
 */
export const createDividedService = ({ atMost, windowMs, delayMs }: ServiceOptions) => {
  const time = createManualTime();
  const division = createLimitDivision({ workers: 3, time });

  const openDelivery = delayMs && (() => deliverAfter(delayMs));
  const deliverAfter = (nextDelayMs: () => number): Delivery => {
    let latest = 0;
    return (deliver) => {
      latest = Math.max(latest, time.now() + nextDelayMs());
      time.after(latest - time.now(), deliver);
    };
  };

  const join = () => {
    let isAlive = true;
    let asks = 0;
    let held = 0;
    const ports = linkedPorts<ShareCalls, LimitCalls>({ openDelivery });
    const shares = createWorkerShares({
      workers: 3,
      now: time.now,
      port: {
        post: (kind, request) => {
          if (isAlive) worker.post(kind, request);
          asks++;
        },
      },
    });
    const worker = ports.worker({
      ...shares.handlers,
      grantShare: (granted) => (isAlive ? shares.handlers.grantShare(granted) : undefined),
    });
    const served = division.serve({
      call: (kind, request) => primary.call(kind, request),
      post: (kind, request) => primary.post(kind, request),
    });
    const primary = ports.primary(served.handlers);
    const limit =
      windowMs === undefined
        ? createConcurrencyLimit(atMost, (used) => shares.open("streams", "key", used))
        : createRateLimit({ atMost, windowMs }, time.now, (used) => shares.open("failures", "key", used));
    const refusal = (more?: AskForMore) => new RateLimited("too many", "streams", 1, more);
    const { acquire } = refusing(limit, refusal);
    served.begin();
    return {
      /** @throws {RateLimited} */
      acquire: (key = "a key"): Promise<Release> =>
        tryWithMore(() => {
          const release = acquire(key);
          held++;
          return () => {
            held--;
            release();
          };
        }),
      /** Returns how often the worker has asked for more. */
      asks: () => asks,
      /** Returns the number of units that the worker holds; 0 after its end. */
      held: () => (isAlive ? held : 0),
      end: (): void => {
        isAlive = false;
        primary.close();
        served.end();
      },
    };
  };

  return {
    time,
    division,
    join,
    /** Advances the time in small steps until all promises are settled. */
    settle: async <T>(promises: readonly Promise<T>[]): Promise<PromiseSettledResult<T>[]> => {
      let isSettled = false;
      const settled = Promise.allSettled(promises);
      void settled.then(() => {
        isSettled = true;
      });
      while (!isSettled) {
        time.advance(1);
        await setImmediate();
      }
      return await settled;
    },
  };
};

export type DividedWorker = ReturnType<ReturnType<typeof createDividedService>["join"]>;

export const isRefused = (attempt: Promise<Release>): Promise<boolean> =>
  attempt.then(
    () => false,
    (error) => error instanceof RateLimited,
  );
