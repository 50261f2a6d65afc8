import { setTimeout as delay } from "node:timers/promises";
import { type EventBatch, type EventStore, EventStoreUnavailable } from "../src/eventstore/event-store.ts";
import { type Projection, startsWithOne } from "./projection.ts";
import { type Landmark, noSnapshots, type Partition, type SnapshotStore, type Span } from "./snapshot.ts";

/** A projection's states, as of the last event told. */
export interface View<S> {
  get(partition: string): S | undefined;
  entries(): Iterable<[string, S]>;
  readonly size: number;
}

/** Keeps the views of all projections over one subscription. */
export interface ProjectionRunner {
  /** The projection's view; the projection must be one of those that the runner was made with. */
  view<S>(projection: Projection<S>): View<S>;
  /** Starts from the newest snapshots that are of this log; resolves when the log as of now is told. @throws {EventStoreUnavailable} */
  start(): Promise<void>;
  /** Resolves when every view has passed the position of the log. Rejects with the signal's reason, or when closed. */
  reached(position: number, signal?: AbortSignal): Promise<void>;
  /** How far the views are, and since when (milliseconds, epoch) the subscription has been down. */
  status(): { readonly position: number; readonly live: boolean; readonly downSince: number | undefined };
  /** Ends the subscription and writes a last snapshot. */
  close(): Promise<void>;
}

export interface RunnerOptions {
  readonly store: EventStore;
  readonly projections: readonly Projection<unknown>[];
  readonly snapshots?: SnapshotStore;
  /** The beginnings of the names of streams that retention trims: no snapshot rests on events that may vanish. */
  readonly trimmed?: readonly string[];
  readonly clock?: () => number;
  /** A snapshot is written after so many events. Default 50,000. */
  readonly snapshotEvery?: number;
  /** How long the log may be out of reach before a start gives up; once started, it is followed for ever. Default 30 s. */
  readonly startPatienceMs?: number;
  /** Told of what went wrong and is being mended. */
  readonly onTrouble?: (what: string, error: unknown) => void;
}

interface Running {
  readonly projection: Projection<unknown>;
  partitions: Map<string, Partition>;
  /** Everything up to here is in the partitions. */
  position: number;
  /** What the partitions hold, told by events that stay; undefined while there is none. */
  span: Span | undefined;
}

const resubscribeMs = { first: 50, most: 2_000 };
const beginning = -1;

export const createProjectionRunner = ({
  store,
  projections,
  snapshots = noSnapshots,
  trimmed = [],
  clock = Date.now,
  snapshotEvery = 50_000,
  startPatienceMs = 30_000,
  onTrouble = () => {},
}: RunnerOptions): ProjectionRunner => {
  const running = new Map(projections.map((projection) => [projection.name, startOf(projection)]));
  const prefixes = [...new Set(projections.flatMap((projection) => projection.prefixes))];
  const waiting = new Set<{ position: number; resolve: () => void; reject: (error: unknown) => void }>();
  const ending = new AbortController();
  let position = beginning;
  let live = false;
  let started = false;
  let downSince: number | undefined;
  let sound = true;
  let sinceSnapshot = 0;
  let snapshotting: Promise<void> = Promise.resolve();
  let following: Promise<void> = Promise.resolve();

  const apply = (batch: EventBatch): void => {
    const landmark = batch.events.findLast(({ stream }) => !startsWithOne(stream, trimmed));
    for (const one of running.values()) applyTo(one, batch, landmark);
    position = batch.position;
    live = batch.caughtUp;
    downSince = undefined;
    for (const waiter of waiting) {
      if (waiter.position > position) continue;
      waiting.delete(waiter);
      waiter.resolve();
    }
    sinceSnapshot += batch.events.length;
    if (sinceSnapshot >= snapshotEvery) snapshotting = snapshotting.then(snapshot);
  };

  const snapshot = async (): Promise<void> => {
    sinceSnapshot = 0;
    for (const one of running.values()) {
      const { projection, partitions, span } = one;
      if (!sound || !span) continue;
      try {
        await snapshots.save(projection, partitions, () => one.span ?? span);
      } catch (error) {
        onTrouble(`the snapshot of ${projection.name} was not written`, error);
      }
    }
  };

  const restore = async (): Promise<void> => {
    for (const one of running.values()) {
      const saved = await snapshots.load(one.projection);
      if (!saved) continue;
      if (await holds(store, saved.span)) {
        one.partitions = saved.partitions;
        one.span = saved.span;
        one.position = saved.span.from.position;
      } else
        onTrouble(`the snapshot of ${one.projection.name} is left aside`, new Error("it is of another log"));
    }
    position = Math.min(...[...running.values()].map((one) => one.position));
  };

  /** A fold that throws would throw again: the views stand still, and say so, until the program is mended. */
  const stalled = (error: unknown): unknown => {
    sound = false;
    live = false;
    downSince ??= clock();
    onTrouble("a fold failed: the views stand still", error);
    return error;
  };

  /** Follows the log for ever; what is told twice after a break is left out by position. */
  const follow = async (caughtUp: () => void): Promise<void> => {
    for (
      let wait = resubscribeMs.first;
      !ending.signal.aborted;
      wait = Math.min(wait * 2, resubscribeMs.most)
    ) {
      try {
        for await (const batch of store.subscribe({ after: position, prefixes, signal: ending.signal })) {
          apply(batch);
          wait = resubscribeMs.first;
          if (!batch.caughtUp) continue;
          started = true;
          caughtUp();
        }
      } catch (error) {
        if (!(error instanceof EventStoreUnavailable)) throw stalled(error);
        onTrouble("the subscription to the event store broke off", error);
        if (!started && downSince !== undefined && clock() - downSince >= startPatienceMs) throw error;
      }
      if (ending.signal.aborted) return;
      live = false;
      downSince ??= clock();
      await delay(wait, undefined, { signal: ending.signal }).catch(() => {});
    }
  };

  return {
    view: <S>(projection: Projection<S>): View<S> => {
      const one = running.get(projection.name);
      if (!one) throw new Error(`no projection ${projection.name} is run here`);
      return viewOf<S>(one);
    },
    start: async () => {
      await restore();
      await new Promise<void>((resolve, reject) => {
        following = follow(resolve);
        following.catch(reject);
      });
    },
    reached: (wanted, signal) =>
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
    status: () => ({ position, live, downSince }),
    close: async () => {
      ending.abort();
      await following.catch(() => {}); // told already
      await snapshotting;
      await snapshot();
      for (const waiter of waiting) waiter.reject(new EventStoreUnavailable("the views are closed"));
      waiting.clear();
    },
  };
};

const startOf = (projection: Projection<unknown>): Running => ({
  projection,
  partitions: new Map(),
  position: beginning,
  span: undefined,
});

/** Whether the log is the one that the span was seen in: it holds the same events at both ends. */
const holds = async (store: EventStore, { from, upTo }: Span): Promise<boolean> => {
  for (const { position, id } of [from, upTo]) {
    if ((await store.eventAt(position))?.id !== id) return false;
  }
  return true;
};

/** A partition may be ahead of its projection: a snapshot is written while events go on. */
const applyTo = (one: Running, { events, position }: EventBatch, landmark?: Landmark): void => {
  const { projection, partitions } = one;
  for (const event of events) {
    if (event.position <= one.position || !startsWithOne(event.stream, projection.prefixes)) continue;
    const name = projection.partition(event);
    if (name === undefined) continue;
    const partition = partitions.get(name);
    if (!partition) {
      partitions.set(name, {
        position: event.position,
        state: projection.apply(projection.initial(), event),
      });
    } else if (event.position > partition.position) {
      partition.state = projection.apply(partition.state, event);
      partition.position = event.position;
    }
  }
  if (landmark && landmark.position > one.position) one.span = reaching(one.span, landmark);
  one.position = Math.max(one.position, position);
};

/** Right after a restart the partitions are ahead of what has been told again. */
const reaching = (span: Span | undefined, { position, id }: Landmark): Span => {
  const from = { position, id };
  return { from, upTo: span && span.upTo.position > position ? span.upTo : from };
};

const viewOf = <S>(one: Running): View<S> => ({
  get: (name) => one.partitions.get(name)?.state as S | undefined,
  entries: function* () {
    for (const [name, { state }] of one.partitions) yield [name, state as S];
  },
  get size() {
    return one.partitions.size;
  },
});
