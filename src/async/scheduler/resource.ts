import type { Clock } from "../clock.ts";
import { createDeadlineQueue } from "../deadline-queue.ts";
import type { Claim } from "./claim.ts";
import { createFairQueues, type QueuedJob } from "./fair-queues.ts";

export interface Work {
  /** Belongs to an answer that has begun: it is not refused, and waits until `signal` is aborted. */
  readonly isContinuation?: boolean | undefined;
  /** Somebody waits for the first byte: goes ahead of others, up to a bound. Default: unless it is a continuation. */
  readonly isFirstPiece?: boolean;
  /** Estimated seconds of speech. Default: those of the whole answer. */
  readonly seconds?: number | undefined;
}

/** A number of slots, and a queue per API key. */
export interface Resource {
  /**
   * Resolves with a function that releases the slot, when it is the claim's turn in the queue of any of its keys.
   * @throws `overloaded()` if the queue of each of its keys is full, all queues are full, or no slot is free in time
   * @throws the signal's reason
   */
  acquire(claim: Claim, signal: AbortSignal, work?: Work): Promise<() => void>;
  /** A slot at once, for one of the claim's keys. @throws `overloaded()` if there is none */
  acquireNow(claim: Claim): () => void;
  /** @throws `overloaded()` if `acquire` would refuse the claim now */
  requireCapacity(claim: Claim): void;
  running(): number;
  queued(): number;
}

export interface ResourceOptions {
  readonly concurrency: number;
  /** Slots that one key may hold. Default: all. */
  readonly concurrencyPerKey?: number;
  /**
   * Of the slots, those for first pieces of keys with little work, so that a short text needs not wait until a piece of
   * a long one ends. Default 0.
   */
  readonly reserved?: number;
  /** Limits how often a slot may be acquired. Default: no limit. */
  readonly startLimit?: StartLimit;
  /** Waiting jobs, continuations not counted: in all queues, and in the queue of one key. */
  readonly queueLimit: number;
  readonly queueLimitPerKey: number;
  /** Longest wait in milliseconds, continuations excepted. */
  readonly queueTimeoutMs: number;
  /** The error of refused jobs: all slots are busy, or this key's queue is full. */
  readonly overloaded: (scope: "all" | "key") => Error;
  /** Default: the scheduler's. */
  readonly clock?: Clock;
}

export interface StartLimit {
  /** If true, calls `retry` when the next start is possible. */
  mustWait(retry: () => void): boolean;
  started(): void;
}

/** What statistics ask a resource. */
export interface ResourceState {
  running(): number;
  queued(): number;
  isFull(): boolean;
  isSlow(): boolean;
  oldestWaitMs(): number;
}

interface ResourceContext {
  readonly clock: Clock;
  /** A job has joined, left, started or ended. */
  readonly onChange: (state: ResourceState) => void;
  readonly onRefused: () => void;
  readonly onStart: (waitedMs: number) => void;
}

interface Waiting extends QueuedJob {
  readonly since: number;
  /** Gives it the slot. `end` ends it in its queue. */
  readonly enter: (end: () => void) => void;
  readonly fail: (reason: unknown) => void;
}

export const createResource = (
  options: ResourceOptions,
  { clock, onChange, onRefused, onStart }: ResourceContext,
): Resource => {
  const { concurrency, concurrencyPerKey = concurrency, reserved = 0 } = options;
  const { startLimit, queueLimit, queueLimitPerKey, queueTimeoutMs, overloaded } = options;
  const queues = createFairQueues({ concurrencyPerKey, now: clock.now });
  const waiting = new Set<Waiting>();
  /** Waiting jobs that may be refused. */
  const refusable = createDeadlineQueue<Waiting>(queueTimeoutMs, (job) => job.fail(refuse("all")), clock);
  let running = 0;

  const oldestWaitMs = (): number =>
    Math.max(0, clock.now() - (queues.oldestWait() ?? Number.POSITIVE_INFINITY));

  const state: ResourceState = {
    running: () => running,
    queued: () => waiting.size,
    isFull: () => running >= concurrency && refusable.size >= queueLimit,
    isSlow: () => oldestWaitMs() > queueTimeoutMs / 2,
    oldestWaitMs,
  };

  const refuse = (scope: "all" | "key"): Error => {
    onRefused();
    return overloaded(scope);
  };

  const leave = (job: Waiting): void => {
    refusable.delete(job);
    if (waiting.delete(job)) onChange(state);
  };

  const count = (change: 1 | -1): void => {
    running += change;
    onChange(state);
  };

  const onlyReserved = (): boolean => running >= concurrency - reserved;

  const dispatch = (): void => {
    while (running < concurrency && queues.hasNext(onlyReserved())) {
      if (startLimit?.mustWait(dispatch)) return;
      const next = queues.take<Waiting>(onlyReserved());
      if (!next) return;
      startLimit?.started();
      count(1);
      leave(next.job);
      onStart(clock.now() - next.job.since);
      next.job.enter(next.end);
    }
  };

  const releaseOnce = (end: () => void) => {
    let isReleased = false;
    return (): void => {
      if (isReleased) return;
      isReleased = true;
      count(-1);
      end();
      dispatch();
    };
  };

  /** Why a job that does not get its slot at once is refused. */
  const refusal = ({ keys }: Claim): "all" | "key" | undefined => {
    if ([...keys].every((key) => queues.firstPiecesOf(key) >= queueLimitPerKey)) return "key";
    return refusable.size >= queueLimit ? "all" : undefined;
  };

  /** Resolves with the release of the slot. */
  const join = (claim: Claim, signal: AbortSignal, work: Work): Promise<() => void> =>
    new Promise((resolve, reject) => {
      const { isContinuation = false, isFirstPiece = !isContinuation, seconds = claim.seconds } = work;
      const refused = isContinuation ? undefined : refusal(claim);
      const stop = () => {
        stopListening();
        signal.removeEventListener("abort", onAbort);
      };
      const enter = (end: () => void) => {
        stop();
        resolve(releaseOnce(end));
      };
      const fail = (reason: unknown) => {
        stop();
        leave(job);
        queues.remove(job);
        reject(reason);
      };
      const onAbort = () => fail(signal.reason);
      const { keys, order } = claim;
      const job: Waiting = { keys, order, seconds, isFirstPiece, since: clock.now(), enter, fail };
      const stopListening = claim.onJoin((key) => {
        queues.addTo(key, job);
        dispatch();
      });
      signal.addEventListener("abort", onAbort, { once: true });
      waiting.add(job);
      if (!isContinuation) refusable.add(job);
      onChange(state);
      queues.add(job);
      dispatch();
      if (refused && waiting.has(job)) fail(refuse(refused));
    });

  return {
    acquire: async (claim, signal, work = {}) => {
      signal.throwIfAborted();
      return await join(claim, signal, work);
    },
    acquireNow: (claim) => {
      if (running >= concurrency) throw refuse("all");
      const key = [...claim.keys].find(queues.mayHold);
      if (key === undefined) throw refuse("key");
      const end = queues.hold(key, claim);
      count(1);
      onStart(0);
      return releaseOnce(end);
    },
    requireCapacity: (claim) => {
      const isFree = running < concurrency - reserved && !queues.hasNext(false);
      if (isFree && [...claim.keys].some(queues.mayHold)) return;
      const refused = refusal(claim);
      if (refused) throw refuse(refused);
    },
    running: state.running,
    queued: state.queued,
  };
};
