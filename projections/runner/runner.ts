import { setTimeout as delay } from "node:timers/promises";
import { Unavailable } from "../../src/domain/errors.ts";
import { type EventBatch, type EventStore, EventStoreUnavailable } from "../../src/eventstore/event-store.ts";
import { hasPrefix, type Projection } from "../projection.ts";
import { createLag } from "./lag.ts";
import {
  beginning,
  foldBatch,
  type RunningProjection,
  restore,
  save,
  startOf,
} from "./running-projection.ts";
import { noSnapshots, type SnapshotStore } from "./snapshot.ts";
import { createSnapshotWriter } from "./snapshot-writer.ts";

/**
 * A projection's states, as of the last event folded.
 * @throws {Unavailable} from every method when the projection has failed, or has lagged behind the log for too long
 */
export interface View<S> {
  get(partition: string): S | undefined;
  entries(): Iterable<[string, S]>;
  readonly size: number;
}

export interface RunnerStatus {
  readonly position: number;
  /** Whether the subscription delivers events as they are appended. */
  readonly live: boolean;
  /** For how long the views have not shown the log as it is. */
  readonly lagMs: number;
  /** False while the views refuse to answer because they have lagged for too long. */
  readonly current: boolean;
  /** The projections that have stopped because their fold threw. */
  readonly failed: readonly string[];
}

/** Keeps the views of all projections over one subscription. */
export interface ProjectionRunner {
  /** The projection's view; the projection must be one of those that the runner was made with. */
  view<S>(projection: Projection<S>): View<S>;
  /** The same view, which answers from its last states when it has failed or lags: for what opens nothing to anyone. */
  lastKnownView<S>(projection: Projection<S>): View<S>;
  /** Starts from the newest snapshots that are of this log; resolves when the log as of now is told. @throws {EventStoreUnavailable} */
  start(): Promise<void>;
  /** Notes that an event was appended here: the views lag until they have passed it. */
  noteAppended(stream: string, position: number): void;
  /** Resolves when every view has passed the position of the log. Rejects with the signal's reason, or when closed. */
  waitForPosition(position: number, signal?: AbortSignal): Promise<void>;
  status(): RunnerStatus;
  /** Ends the subscription and waits for the snapshot that is being written. */
  close(): Promise<void>;
}

export interface RunnerOptions {
  /** Each event that it delivers must be one that the folds can take: see `validatedEventStore`. */
  readonly store: EventStore;
  readonly projections: readonly Projection<unknown>[];
  readonly snapshots?: SnapshotStore;
  /** The beginnings of the names of streams that retention trims: no snapshot rests on events that may vanish. */
  readonly trimmedPrefixes?: readonly string[];
  /** Milliseconds that never go back. */
  readonly uptime?: () => number;
  /** A snapshot is written after so many events. Default 50,000. */
  readonly snapshotEvery?: number;
  /** How long the log may be out of reach before a start gives up; once started, it is followed for ever. Default 30 s. */
  readonly startTimeoutMs?: number;
  /** Views that have lagged for longer refuse to answer. Default 15 s. */
  readonly maxLagMs?: number;
  /** Told of what went wrong and is being mended. */
  readonly onError?: (what: string, error: unknown) => void;
}

const resubscribeMs = { first: 50, most: 2_000 };
const retryAfterSeconds = 5;

export const createProjectionRunner = ({
  store,
  projections,
  snapshots = noSnapshots,
  trimmedPrefixes = [],
  uptime = () => performance.now(),
  snapshotEvery = 50_000,
  startTimeoutMs = 30_000,
  maxLagMs = 15_000,
  onError = () => {},
}: RunnerOptions): ProjectionRunner => {
  const running = new Map(projections.map((projection) => [projection.name, startOf(projection)]));
  const prefixes = [...new Set(projections.flatMap((projection) => projection.prefixes))];
  const waiting = new Set<{ position: number; resolve: () => void; reject: (error: unknown) => void }>();
  const ending = new AbortController();
  const lag = createLag(uptime);
  let position = beginning;
  let live = false;
  let following: Promise<void> = Promise.resolve();

  const writer = createSnapshotWriter({
    parts: [...running.values()],
    every: snapshotEvery,
    write: (one) =>
      save(one, snapshots).catch((error) =>
        onError(`the snapshot of ${one.projection.name} was not written`, error),
      ),
  });

  /** A fold that throws would throw again: its projection stops, and the others go on. */
  const fold = (
    one: RunningProjection,
    batch: EventBatch,
    landmark: EventBatch["events"][number] | undefined,
  ): void => {
    try {
      foldBatch(one, batch, landmark);
    } catch (error) {
      onError(`the view ${one.projection.name} has stopped`, error);
    }
  };

  const apply = (batch: EventBatch): void => {
    const landmark = batch.events.findLast(({ stream }) => !hasPrefix(stream, trimmedPrefixes));
    for (const one of running.values()) if (!one.failure) fold(one, batch, landmark);
    position = batch.position;
    live = batch.caughtUp;
    if (live) lag.caughtUp();
    for (const waiter of waiting) {
      if (waiter.position > position) continue;
      waiting.delete(waiter);
      waiter.resolve();
    }
    writer.folded(batch.events.length, batch.caughtUp);
  };

  const restoreAll = async (): Promise<void> => {
    for (const one of running.values()) {
      if (await restore(one, store, snapshots)) continue;
      onError(`the snapshot of ${one.projection.name} is left aside`, new Error("it is of another log"));
    }
    position = Math.min(...[...running.values()].map((one) => one.position));
  };

  /** Follows the log for ever; what is told twice after a break is left out by position. */
  const follow = async (caughtUp: () => void): Promise<void> => {
    let started = false;
    let failingSince: number | undefined;
    let wait = resubscribeMs.first;
    while (!ending.signal.aborted) {
      try {
        for await (const batch of store.subscribe({ after: position, prefixes, signal: ending.signal })) {
          apply(batch);
          wait = resubscribeMs.first;
          failingSince = undefined;
          if (!batch.caughtUp) continue;
          started = true;
          caughtUp();
        }
      } catch (error) {
        onError("the subscription to the event store broke off", error);
        failingSince ??= uptime();
        if (!started && uptime() - failingSince >= startTimeoutMs) throw error;
      }
      if (ending.signal.aborted) return;
      live = false;
      lag.lost();
      await delay(wait, undefined, { signal: ending.signal }).catch(() => {});
      wait = Math.min(wait * 2, resubscribeMs.most);
    }
  };

  const find = (projection: Projection<unknown>): RunningProjection => {
    const one = running.get(projection.name);
    if (!one) throw new Error(`no projection ${projection.name} is run here`);
    return one;
  };

  const isCurrent = (): boolean => lag.at(position) <= maxLagMs;

  const mustBeCurrent = ({ projection, failure }: RunningProjection): void => {
    if (!failure && isCurrent()) return;
    throw new Unavailable(`The view ${projection.name} is out of date. Try again later.`, retryAfterSeconds, {
      cause: failure,
    });
  };

  return {
    view: <S>(projection: Projection<S>): View<S> => {
      const one = find(projection);
      return viewOf<S>(one, () => mustBeCurrent(one));
    },
    lastKnownView: <S>(projection: Projection<S>): View<S> => viewOf<S>(find(projection), () => {}),
    start: async () => {
      await restoreAll();
      await new Promise<void>((resolve, reject) => {
        following = follow(resolve);
        following.catch(reject);
      });
    },
    noteAppended: (stream, at) => {
      if (hasPrefix(stream, prefixes)) lag.appended(at);
    },
    waitForPosition: (wanted, signal) =>
      position >= wanted
        ? Promise.resolve()
        : new Promise((resolve, reject) => {
            if (signal?.aborted) return reject(signal.reason);
            const waiter = { position: wanted, resolve, reject };
            waiting.add(waiter);
            signal?.addEventListener("abort", () => {
              if (waiting.delete(waiter)) reject(signal.reason);
            });
          }),
    status: () => ({
      position,
      live,
      lagMs: lag.at(position),
      current: isCurrent(),
      failed: [...running.values()].filter(({ failure }) => failure).map(({ projection }) => projection.name),
    }),
    close: async () => {
      ending.abort();
      await following.catch(() => {}); // told already
      await writer.close();
      for (const waiter of waiting) waiter.reject(new EventStoreUnavailable("the views are closed"));
      waiting.clear();
    },
  };
};

const viewOf = <S>(one: RunningProjection, mustBeCurrent: () => void): View<S> => ({
  get: (name) => {
    mustBeCurrent();
    return one.partitions.get(name)?.state as S | undefined;
  },
  entries: () => {
    mustBeCurrent();
    return Iterator.from(one.partitions).map(([name, { state }]) => [name, state as S]);
  },
  get size() {
    mustBeCurrent();
    return one.partitions.size;
  },
});
