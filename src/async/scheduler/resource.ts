import { createDeadlineQueue, type DeadlineQueue, type Queued } from "../deadline-queue.ts";
import type { Time } from "../time.ts";
import { FairQueues, type QueuedJob } from "./fair-queues.ts";
import { HeldSlots } from "./held-slots.ts";
import type { Waiter } from "./waiter.ts";

export interface AcquireOptions {
  /**
   * True if the job belongs to a response that has begun. It is not refused, and waits until
   * `signal` is aborted.
   */
  readonly isContinuation?: boolean | undefined;
  /**
   * True if somebody waits for the first byte. The job goes ahead of others, up to a bound.
   * Default: true unless it is a continuation.
   */
  readonly isFirstPiece?: boolean;
  /** The estimated seconds of speech. Default: the estimate for the whole response. */
  readonly seconds?: number | undefined;
}

export interface ResourceOptions {
  readonly concurrency: number;
  /** The slots that one key may hold. Default: all. */
  readonly concurrencyPerKey?: number;
  /**
   * The number of slots that are reserved for first pieces of keys with little work, so that a
   * short text need not wait for a piece of a long one. Default: 0.
   */
  readonly reserved?: number;
  /** Limits how often a slot may be acquired. Default: no limit. */
  readonly startLimit?: StartLimit;
  /** The maximum number of waiting jobs, without continuations, in all queues. */
  readonly queueLimit: number;
  /** The maximum number of waiting jobs, without continuations, in the queue of one key. */
  readonly queueLimitPerKey: number;
  /** The longest wait of a job in milliseconds, except for continuations. */
  readonly queueTimeoutMs: number;
  /**
   * The seconds after which a key that was refused for its own jobs may try again. A slot of the
   * queue is then held for it, for a second.
   */
  readonly keyRetryAfterSeconds: number;
  /** The error of refused jobs: see `Scope`. */
  readonly overloaded: (scope: Scope) => Error;
  /** Default: the scheduler's. */
  readonly time?: Time;
  /** True if all workers of a service share its slots, and wait in the same queues. */
  readonly isShared?: boolean;
}

export interface StartLimit {
  /** Returns true if no job may start now, and then calls `retry` when one may. */
  mustWait(retry: () => void): boolean;
  started(): void;
}

export interface ResourceContext {
  readonly time: Time;
  /** Called when a job has joined, left, started or ended. */
  readonly onChange: () => void;
  readonly onRefused: (scope: Scope) => void;
  readonly onStart: (waitedMs: number) => void;
}

interface WaitingJob extends QueuedJob, Queued<WaitingJob> {
  /** Gives the job the slot. */
  readonly enter: (release: () => void) => void;
  readonly fail: (reason: unknown) => void;
}

/**
 * Who is refused. `all`: any key would be, because all queues together are full, or a key got no
 * slot in time although it has no other job. `key`: only keys whose own jobs fill their queues or
 * keep the job waiting.
 */
export type Scope = "all" | "key";

/** A number of slots, and a queue per API key. */
export interface Resource {
  /**
   * Resolves with a function that releases the slot, when the waiter is next in the queue of any of
   * its keys.
   * @throws `overloaded()` if the queue of each of its keys is full, all queues are full, or no
   * slot is free in time. A slot that is held for one of its keys admits it nevertheless
   * @throws the signal's reason
   */
  acquire(waiter: Waiter, signal: AbortSignal, options?: AcquireOptions): Promise<() => void>;
  /**
   * Takes a slot at once, for one of the waiter's keys. Returns the function that releases it.
   * @throws `overloaded()` if there is none
   */
  acquireNow(waiter: Waiter): () => void;
  /** @throws `overloaded()` if `acquire` would refuse the waiter now */
  requireCapacity(waiter: Waiter): Promise<void>;
  running(): number;
  queued(): number;
  /** True if it refuses every key. */
  isFull(): boolean;
  /** True if a key's oldest job has waited for more than half of the longest wait. */
  isSlow(): boolean;
  oldestWaitMs(): number;
  /** The longest time for which a running job has held its slot; 0 if none runs. */
  oldestRunMs(): number;
}

/** A resource of this process. */
export class OwnResource implements Resource {
  readonly #options: ResourceOptions;
  readonly #context: ResourceContext;
  readonly #queues: FairQueues;
  readonly #waiting = new Set<WaitingJob>();
  /** Waiting jobs that may be refused. */
  readonly #refusable: DeadlineQueue<WaitingJob>;
  readonly #heldSlots: HeldSlots;
  /** The running jobs, the oldest first. */
  readonly #runs = new Set<{ readonly startedAt: number }>();

  constructor(options: ResourceOptions, context: ResourceContext) {
    const { time } = context;
    const expire = (job: WaitingJob): void =>
      job.fail(this.#refuseToWait(this.#scopeOfTimeout(job), job.keys));
    this.#options = options;
    this.#context = context;
    this.#heldSlots = new HeldSlots(options.keyRetryAfterSeconds * 1_000, time);
    this.#queues = new FairQueues(options.concurrencyPerKey ?? options.concurrency, time);
    this.#refusable = createDeadlineQueue(options.queueTimeoutMs, expire, time);
  }

  async acquire(waiter: Waiter, signal: AbortSignal, options: AcquireOptions = {}): Promise<() => void> {
    signal.throwIfAborted();
    return await this.#join(waiter, signal, options);
  }

  acquireNow(waiter: Waiter): () => void {
    if (this.#runs.size >= this.#options.concurrency) throw this.#refuse("all");
    const key = [...waiter.keys].find((one) => this.#queues.mayHold(one));
    if (key === undefined) throw this.#refuse("key");
    const release = this.#start(this.#queues.hold(key, waiter));
    this.#context.onStart(0);
    return release;
  }

  async requireCapacity(waiter: Waiter): Promise<void> {
    const isFree = !this.#onlyReservedAreFree() && !this.#queues.hasNext(false);
    if (isFree && [...waiter.keys].some((key) => this.#queues.mayHold(key))) return;
    const refused = this.#refusal(waiter);
    if (refused && !this.#heldSlots.has(waiter.keys)) throw this.#refuseToWait(refused, waiter.keys);
  }

  running(): number {
    return this.#runs.size;
  }

  queued(): number {
    return this.#waiting.size;
  }

  isFull(): boolean {
    return this.#runs.size >= this.#options.concurrency && this.#refusable.size >= this.#options.queueLimit;
  }

  isSlow(): boolean {
    return this.oldestWaitMs() > this.#options.queueTimeoutMs / 2;
  }

  oldestWaitMs(): number {
    return Math.max(0, this.#context.time.now() - this.#queues.oldestWait());
  }

  oldestRunMs(): number {
    const [oldest] = this.#runs;
    return oldest ? this.#context.time.now() - oldest.startedAt : 0;
  }

  /** Waits for a slot. Resolves with the function that releases it. */
  #join(waiter: Waiter, signal: AbortSignal, options: AcquireOptions): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const { isContinuation = false, isFirstPiece = !isContinuation, seconds = waiter.seconds } = options;
      const refused = isContinuation ? undefined : this.#refusal(waiter);
      const stop = () => {
        stopListening();
        signal.removeEventListener("abort", onAbort);
      };
      const enter = (release: () => void) => {
        stop();
        resolve(release);
      };
      const fail = (reason: unknown) => {
        stop();
        this.#leave(job);
        this.#queues.remove(job);
        reject(reason);
      };
      const onAbort = () => fail(signal.reason);
      const { keys, sequence } = waiter;
      const queuedAt = this.#context.time.now();
      const job: WaitingJob = {
        keys,
        sequence,
        seconds,
        isFirstPiece,
        queuedAt,
        enter,
        fail,
        queueNode: undefined,
      };
      const stopListening = waiter.onJoin((key) => {
        this.#queues.addTo(key, job);
        this.#dispatch();
      });
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waiting.add(job);
      if (!isContinuation) this.#refusable.add(job);
      this.#context.onChange();
      this.#queues.add(job);
      this.#dispatch();
      if (!refused || !this.#waiting.has(job) || this.#heldSlots.take(keys) !== undefined) return;
      fail(this.#refuseToWait(refused, keys));
    });
  }

  readonly #dispatch = (): void => {
    const { concurrency, startLimit } = this.#options;
    while (this.#runs.size < concurrency && this.#queues.hasNext(this.#onlyReservedAreFree())) {
      if (startLimit?.mustWait(this.#dispatch)) return;
      const next = this.#queues.take<WaitingJob>(this.#onlyReservedAreFree());
      if (!next) return;
      startLimit?.started();
      const release = this.#start(next.end);
      this.#leave(next.job);
      this.#context.onStart(this.#context.time.now() - next.job.queuedAt);
      next.job.enter(release);
    }
  };

  #onlyReservedAreFree(): boolean {
    return this.#runs.size >= this.#options.concurrency - (this.#options.reserved ?? 0);
  }

  /** Takes a slot. Returns the function that releases it; `end` ends the job in its queue. */
  #start(end: () => void): () => void {
    const run = { startedAt: this.#context.time.now() };
    this.#runs.add(run);
    this.#context.onChange();
    return () => {
      if (!this.#runs.delete(run)) return;
      this.#context.onChange();
      end();
      this.#dispatch();
    };
  }

  #leave(job: WaitingJob): void {
    this.#refusable.delete(job);
    if (this.#waiting.delete(job)) this.#context.onChange();
  }

  /** Returns why a job that does not get its slot at once is refused; undefined if it may wait. */
  #refusal({ keys }: Waiter): Scope | undefined {
    const { queueLimit, queueLimitPerKey } = this.#options;
    if ([...keys].every((key) => this.#queues.firstPiecesOf(key) >= queueLimitPerKey)) return "key";
    return this.#refusable.size >= queueLimit ? "all" : undefined;
  }

  /** Only a key that has no other job has been kept waiting by others. */
  #scopeOfTimeout({ keys, queuedAt }: WaitingJob): Scope {
    return [...keys].every((key) => this.#queues.hasOtherJobs(key, queuedAt)) ? "key" : "all";
  }

  #refuseToWait(scope: Scope, keys: ReadonlySet<string>): Error {
    if (scope === "key") this.#heldSlots.hold(keys);
    return this.#refuse(scope);
  }

  #refuse(scope: Scope): Error {
    this.#context.onRefused(scope);
    return this.#options.overloaded(scope);
  }
}
