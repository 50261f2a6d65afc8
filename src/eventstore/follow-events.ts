import { type Clock, systemClock } from "../async/clock.ts";
import { exponentialBackoff } from "../async/retry.ts";
import { sleep } from "../async/sleep.ts";
import type { EventBatch, EventStore } from "./event-store.ts";

export interface FollowOptions {
  readonly store: EventStore;
  readonly prefixes: readonly string[];
  /** Leaves out this stream. */
  readonly except?: string;
  /** Only events at later positions. Default: from the beginning. */
  readonly after?: number;
  /** If it throws, the batch is delivered again. */
  readonly onBatch: (batch: EventBatch) => void | Promise<void>;
  /** Called before each new attempt. */
  readonly onError?: (error: unknown) => void;
  readonly timers?: Clock;
}

export interface Following {
  /** Resolves when the events as of the start are delivered, or at `close`. */
  readonly caughtUp: Promise<void>;
  close(): void;
}

const resubscribeDelayMs = { firstMs: 50, maxMs: 2_000 };

/** Delivers events until `close`. Subscribes again, after the last delivered batch, whenever the subscription ends. */
export const follow = ({
  store,
  prefixes,
  except,
  after,
  onBatch,
  onError = () => {},
  timers = systemClock,
}: FollowOptions): Following => {
  const caughtUp = Promise.withResolvers<void>();
  const stop = new AbortController();
  const { signal } = stop;
  let position = after;
  let failures = 0;

  const deliver = async (): Promise<void> => {
    const continued = position === undefined ? {} : { after: position };
    for await (const batch of store.subscribe({ prefixes, except, signal, ...continued })) {
      if (signal.aborted) return;
      await onBatch(batch);
      position = batch.position;
      failures = 0;
      if (batch.caughtUp) caughtUp.resolve();
    }
  };

  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        await deliver();
      } catch (error) {
        onError(error);
      }
      failures += 1;
      await sleep(exponentialBackoff(resubscribeDelayMs, failures), { clock: timers, signal }).catch(
        () => {},
      );
    }
    caughtUp.resolve();
  };

  void run();
  return { caughtUp: caughtUp.promise, close: () => stop.abort() };
};
