import { Unavailable } from "../../src/domain/errors.ts";
import { type EventBatch, type EventStore, EventStoreUnavailable } from "../../src/eventstore/event-store.ts";
import { type Following, follow } from "../../src/eventstore/follow-events.ts";
import { hasPrefix, type Projection } from "../projection.ts";
import { createLag, type Lag } from "./lag.ts";
import { beforeFirst, RunningProjection } from "./running-projection.ts";
import { noSnapshots, type SnapshotStore } from "./snapshot-store.ts";
import { createView, type LiveView } from "./view.ts";

export interface RunnerStatus {
  readonly position: number;
  /** True while the subscription delivers events as they are appended. */
  readonly live: boolean;
  /** The milliseconds for which the views have not included the whole log. */
  readonly lagMs: number;
  /** False if the views refuse to respond because of their lag. */
  readonly current: boolean;
  /** The names of the projections whose fold has thrown. */
  readonly failed: readonly string[];
}

/** Keeps the views of several projections up to date with one subscription. */
export interface ProjectionRunner {
  /** @throws {Error} if the runner does not run this projection */
  view<S>(projection: Projection<S>): LiveView<S>;
  /** A view that responds even if it has failed or lags. Never use it to grant access. */
  lastKnownView<S>(projection: Projection<S>): LiveView<S>;
  /**
   * Restores the snapshots, and resolves when the views include the log as of now.
   * @throws {EventStoreUnavailable}
   */
  start(): Promise<void>;
  /** Reports an append of this process: the views lag until they have passed it. */
  noteAppended(stream: string, position: number): void;
  /**
   * Resolves when all views have passed the position. Rejects with the signal's reason, or at
   * `close`.
   */
  waitForPosition(position: number, signal?: AbortSignal): Promise<void>;
  status(): RunnerStatus;
  /** Ends the subscription, and waits for a snapshot that is being written. */
  close(): Promise<void>;
}

export interface RunnerOptions {
  /** Must deliver well-formed events only: see `validatedEventStore`. */
  readonly store: EventStore;
  readonly projections: readonly Projection<unknown>[];
  readonly snapshots?: SnapshotStore;
  /**
   * Prefixes of streams with retention: a snapshot cannot be identified by events that are trimmed
   * later.
   */
  readonly trimmedPrefixes?: readonly string[];
  /** A stream that no view needs, although its name has a projection's prefix. */
  readonly except?: string | undefined;
  /** Default: `performance`. */
  readonly time?: Pick<typeof performance, "now">;
  /**
   * Resolves with a position: the views include only events after it, and older snapshots are
   * ignored. Default: all events.
   */
  readonly firstPosition?: () => Promise<number | undefined>;
  /** The number of events to fold between two snapshots. Default 50,000. */
  readonly snapshotEvery?: number;
  /**
   * After an event of these types, snapshots are written at once: earlier ones hold what the event
   * erases.
   */
  readonly erasures?: readonly string[];
  /**
   * The time for which `start` retries an unavailable log. Afterwards the runner retries forever.
   * Default 30 s.
   */
  readonly startTimeoutMs?: number;
  /** Views refuse to respond above this lag. Default 15 s. */
  readonly maxLagMs?: number;
  /** Called with errors that the runner handles itself. */
  readonly onError?: (message: string, error: unknown) => void;
}

const retryAfterSeconds = 5;

export const createProjectionRunner = (options: RunnerOptions): ProjectionRunner =>
  new Runner({
    snapshots: noSnapshots,
    trimmedPrefixes: [],
    except: undefined,
    firstPosition: async () => undefined,
    time: performance,
    snapshotEvery: 50_000,
    erasures: [],
    startTimeoutMs: 30_000,
    maxLagMs: 15_000,
    onError: () => {},
    ...options,
  });

interface Waiter {
  readonly position: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Public methods are arrow functions, so that they can be passed on unbound. */
class Runner implements ProjectionRunner {
  readonly #options: Required<RunnerOptions>;
  readonly #running: ReadonlyMap<string, RunningProjection>;
  readonly #prefixes: readonly string[];
  readonly #lag: Lag;
  readonly #waiters = new Set<Waiter>();
  readonly #stop = new AbortController();
  #position = beforeFirst;
  #isLive = false;
  #following: Following | undefined;
  #eventsSinceSnapshot = 0;
  /** True if the last snapshots may hold what an event has erased since. */
  #hasErased = false;
  #savingSnapshots: Promise<void> | undefined;

  constructor(options: Required<RunnerOptions>) {
    this.#options = options;
    const { projections, time } = options;
    this.#running = new Map(projections.map((one) => [one.name, new RunningProjection(one)]));
    this.#prefixes = [...new Set(projections.flatMap(({ prefixes }) => prefixes))];
    this.#lag = createLag(time);
  }

  start = async (): Promise<void> => {
    await this.#restoreSnapshots();
    const { store, except, time, startTimeoutMs, onError } = this.#options;
    const started = Promise.withResolvers<void>();
    let hasStarted = false;
    let failingSince: number | undefined;
    // Events that are delivered again after an error are skipped by their positions.
    const following = follow({
      store,
      except,
      prefixes: this.#prefixes,
      fromExclusive: this.#position,
      onBatch: (batch) => {
        this.#apply(batch);
        failingSince = undefined;
        if (!batch.caughtUp) return;
        hasStarted = true;
        started.resolve();
      },
      onError: (error) => {
        onError("the subscription to the event store failed", error);
        failingSince ??= time.now();
        if (hasStarted || time.now() - failingSince < startTimeoutMs) return;
        following.close();
        started.reject(error);
      },
      onInterrupted: () => {
        this.#isLive = false;
        this.#lag.lost();
      },
    });
    this.#following = following;
    if (this.#stop.signal.aborted) following.close();
    await started.promise;
  };

  async #restoreSnapshots(): Promise<void> {
    const { store, snapshots, firstPosition, onError } = this.#options;
    const running = [...this.#running.values()];
    const first = (await firstPosition()) ?? beforeFirst;
    for (const one of running) {
      const isOfThisLog = await one.restore(store, snapshots);
      if (one.position < first) one.startAfter(first);
      if (isOfThisLog) continue;
      onError(`the snapshot of ${one.projection.name} is ignored`, new Error("it belongs to another log"));
    }
    this.#position = Math.min(...running.map(({ position }) => position));
  }

  #apply(batch: EventBatch): void {
    const checkpoint = batch.events.findLast(
      ({ stream }) => !hasPrefix(stream, this.#options.trimmedPrefixes),
    );
    for (const one of this.#running.values()) {
      if (one.failure) continue;
      try {
        one.fold(batch, checkpoint);
      } catch (error) {
        // Folding again would throw again: this projection stops, the others continue.
        this.#options.onError(`the view ${one.projection.name} has stopped`, error);
      }
    }
    this.#position = batch.position;
    this.#isLive = batch.caughtUp;
    if (this.#isLive) this.#lag.caughtUp();
    this.#resolveWaiters();
    this.#eventsSinceSnapshot += batch.events.length;
    this.#hasErased ||= batch.events.some(({ type }) => this.#options.erasures.includes(type));
    this.#startSnapshots();
  }

  #resolveWaiters(): void {
    for (const waiter of this.#waiters) {
      if (waiter.position > this.#position) continue;
      this.#waiters.delete(waiter);
      waiter.resolve();
    }
  }

  /** Writes one snapshot at a time, and none while catching up. */
  #startSnapshots(): void {
    const isDue = this.#hasErased || this.#eventsSinceSnapshot >= this.#options.snapshotEvery;
    if (!isDue || !this.#isLive || this.#stop.signal.aborted || this.#savingSnapshots) return;
    this.#eventsSinceSnapshot = 0;
    this.#hasErased = false;
    this.#savingSnapshots = this.#saveSnapshots().finally(() => {
      this.#savingSnapshots = undefined;
      if (this.#hasErased) this.#startSnapshots();
    });
  }

  async #saveSnapshots(): Promise<void> {
    const { snapshots, onError } = this.#options;
    for (const one of this.#running.values()) {
      if (this.#stop.signal.aborted) return;
      await one
        .save(snapshots)
        .catch((error) => onError(`the snapshot of ${one.projection.name} was not written`, error));
    }
  }

  view = <S>(projection: Projection<S>): LiveView<S> => {
    const running = this.#find(projection);
    return createView<S>(running, () => this.#assertCurrent(running));
  };

  lastKnownView = <S>(projection: Projection<S>): LiveView<S> =>
    createView<S>(this.#find(projection), () => {});

  #find({ name }: Projection<unknown>): RunningProjection {
    const running = this.#running.get(name);
    if (!running) throw new Error(`the runner does not run the projection ${name}`);
    return running;
  }

  #isCurrent(): boolean {
    return this.#lag.at(this.#position) <= this.#options.maxLagMs;
  }

  #assertCurrent({ projection, failure }: RunningProjection): void {
    if (!failure && this.#isCurrent()) return;
    throw new Unavailable(`The view ${projection.name} is out of date. Try again later.`, retryAfterSeconds, {
      cause: failure,
    });
  }

  noteAppended = (stream: string, position: number): void => {
    if (stream === this.#options.except || !hasPrefix(stream, this.#prefixes)) return;
    this.#lag.appended(position);
  };

  waitForPosition = (position: number, signal?: AbortSignal): Promise<void> => {
    if (this.#position >= position) return Promise.resolve();
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const waiter = { position, resolve, reject };
      this.#waiters.add(waiter);
      signal?.addEventListener("abort", () => {
        if (this.#waiters.delete(waiter)) reject(signal.reason);
      });
    });
  };

  status = (): RunnerStatus => {
    const failed = [...this.#running.values()].filter(({ failure }) => failure);
    return {
      position: this.#position,
      live: this.#isLive,
      lagMs: this.#lag.at(this.#position),
      current: this.#isCurrent(),
      failed: failed.map(({ projection }) => projection.name),
    };
  };

  close = async (): Promise<void> => {
    this.#stop.abort();
    this.#following?.close();
    await this.#following?.ended;
    await this.#savingSnapshots;
    for (const { reject } of this.#waiters) reject(new EventStoreUnavailable("the views are closed"));
    this.#waiters.clear();
  };
}
