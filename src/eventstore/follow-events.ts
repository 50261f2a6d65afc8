import { exponentialBackoff, type Outcome, retry } from "../async/retry.ts";
import { systemTime, type Time } from "../async/time.ts";
import { inTimeSlices } from "../async/time-slices.ts";
import {
  type EventBatch,
  type EventStore,
  EventStoreUnavailable,
  type RecordedEvent,
  type SubscribeOptions,
} from "./event-store.ts";

/**
 * Reads the log up to its current end, in batches. The last one has `caughtUp`.
 * @throws {EventStoreUnavailable} also if the subscription ends earlier
 * @throws the signal's reason
 */
export async function* readBatches(
  store: Pick<EventStore, "subscribe">,
  options: SubscribeOptions,
): AsyncGenerator<EventBatch, void, undefined> {
  for await (const batch of store.subscribe(options)) {
    yield batch;
    if (batch.caughtUp) return;
  }
  options.signal?.throwIfAborted();
  throw new EventStoreUnavailable("the subscription ended before the end of the log");
}

/** Reads the log like `readBatches`, event by event. */
export async function* readLog(
  store: Pick<EventStore, "subscribe">,
  options: SubscribeOptions = {},
): AsyncGenerator<RecordedEvent, void, undefined> {
  for await (const { events } of readBatches(store, options)) yield* inTimeSlices(events, options.signal);
}

interface FollowOptions {
  readonly store: EventStore;
  readonly prefixes: readonly string[];
  /** Leaves out this stream. */
  readonly except?: string | undefined;
  /** Selects only events at later positions. Default: from the beginning. */
  readonly fromExclusive?: number;
  /** See `SubscribeOptions`. */
  readonly maxLagMs?: number;
  /** If it throws, the batch is delivered again. */
  readonly onBatch: (batch: EventBatch) => void | Promise<void>;
  /** Called when a subscription has failed, before the next attempt. */
  readonly onError?: (error: unknown) => void;
  /** Called before each new attempt, also after a subscription that ended without an error. */
  readonly onInterrupted?: () => void;
  readonly time?: Time;
}

export interface Following {
  /** Resolves when all events that existed at the start are delivered, or at `close`. */
  readonly caughtUp: Promise<void>;
  /** Resolves after `close`, when no batch is being delivered. */
  readonly ended: Promise<void>;
  close(): void;
}

const resubscribeDelayMs = { firstMs: 50, maxMs: 2_000 };

/**
 * Delivers events until `close`. Subscribes again, after the last delivered batch, whenever the
 * subscription ends.
 */
export const follow = ({
  store,
  prefixes,
  except,
  fromExclusive,
  maxLagMs,
  onBatch,
  onError = () => {},
  onInterrupted = () => {},
  time = systemTime,
}: FollowOptions): Following => {
  const caughtUp = Promise.withResolvers<void>();
  const stop = new AbortController();
  const { signal } = stop;
  let position = fromExclusive;
  let failures = 0;

  const deliver = async (): Promise<void> => {
    const continued = position === undefined ? {} : { fromExclusive: position };
    for await (const batch of store.subscribe({ prefixes, except, maxLagMs, signal, ...continued })) {
      if (signal.aborted) return;
      await onBatch(batch);
      position = batch.position;
      failures = 0;
      if (batch.caughtUp) caughtUp.resolve();
    }
  };

  const delayAfter = (outcome: Outcome<void>): number | undefined => {
    if (signal.aborted) return undefined;
    if ("error" in outcome) onError(outcome.error);
    onInterrupted();
    failures += 1;
    return exponentialBackoff(resubscribeDelayMs, failures);
  };
  const ended = retry({ delayAfter, time, signal }, deliver)
    .catch(() => {}) // it rejects only after `close`
    .finally(caughtUp.resolve);
  return { caughtUp: caughtUp.promise, ended, close: () => stop.abort() };
};
