import type { Time } from "../time.ts";
import { Fifo } from "./fifo.ts";
import { IndexedHeap } from "./indexed-heap.ts";

/** A job that waits in the queue of each of its keys and is served from one of them. */
export interface QueuedJob {
  readonly keys: ReadonlySet<string>;
  /** Its cost: the estimated seconds of speech. */
  readonly seconds: number;
  /** True for the first piece of a response: somebody waits for its first byte. */
  readonly isFirstPiece: boolean;
  /** The sequence number of its waiter: those of older responses are lower. */
  readonly sequence: number;
  /** The time since which it waits. */
  readonly queuedAt: number;
}

/**
 * First pieces may run ahead of their key's share by this many seconds of speech: about ten
 * sentences. A key that has used them up waits like all others, so that first pieces starve no key.
 */
const leadSeconds = 30;

/** Keys with at most this much work may use reserved slots: about five sentences. */
const lightSeconds = 15;

/** Every job costs at least this much: otherwise jobs of unknown length would never count. */
const minSeconds = 0.5;

/**
 * The maximum number of remembered keys without jobs. They are remembered because they are ahead of
 * their share.
 */
const maxIdle = 10_000;

/** One key's jobs. */
class KeyQueue {
  readonly key: string;
  readonly firstPieces = new Fifo<QueuedJob>();
  /**
   * The pieces of the oldest response come first: if all responses advanced alike, all would be
   * late.
   */
  readonly laterPieces = new IndexedHeap<QueuedJob>((one, other) => one.sequence < other.sequence);
  /** The number of running jobs. */
  held = 0;
  /** The cost of the waiting and running jobs. */
  load = 0;
  /**
   * The virtual time at which its next job starts. It measures how much speech the key has
   * received, on the scale of all keys.
   */
  start = 0;
  wasFirstPiece = false;
  /**
   * Jobs of all queues are numbered in the order in which they are served. This is the number of
   * the key's last one.
   */
  servedAs = 0;
  /** The time at which a job of this key was served last, or the first one joined. */
  waitsSince = 0;

  constructor(key: string) {
    this.key = key;
  }

  get waiting(): number {
    return this.firstPieces.size + this.laterPieces.size;
  }

  /**
   * First and later pieces of one key alternate, so that neither new responses nor begun ones wait
   * for all others.
   */
  get isFirstPieceNext(): boolean {
    return this.firstPieces.size > 0 && (this.laterPieces.size === 0 || !this.wasFirstPiece);
  }

  get effectiveStart(): number {
    return this.start - (this.isFirstPieceNext ? leadSeconds : 0);
  }
}

/**
 * One queue per key, served in the order of start-time fair queueing: the key with the lowest
 * virtual start time goes first, and each job moves its key's start time by its cost (Goyal, Vin,
 * Cheng: "Start-time Fair Queuing", 1996; for several slots: Jin, Chase, Kaur, "Interposed
 * proportional sharing", SFQ(D), 2004). So keys with waiting jobs get equal shares, to within one
 * job.
 *
 * There are two additions. First pieces borrow virtual time up to a bound (Duda, Cheriton:
 * "Borrowed-virtual-time scheduling", 1999). Virtual time also advances by each job's cost divided
 * by the number of active keys, as under generalized processor sharing, so that an endless series
 * of new keys starves no key.
 *
 * Adding, deleting and taking a job take O(log n) for n keys.
 */
export class FairQueues {
  readonly #concurrencyPerKey: number;
  readonly #time: Pick<Time, "now">;
  readonly #queues = new Map<string, KeyQueue>();
  readonly #idle = new Map<string, KeyQueue>();
  readonly #eligible = new IndexedHeap<KeyQueue>(goesBefore);
  /** The queues with little work whose next job is a first piece: they may use reserved slots. */
  readonly #light = new IndexedHeap<KeyQueue>(goesBefore);
  #virtualTime = 0;
  #served = 0;

  /** @param concurrencyPerKey jobs of one key that may run at once */
  constructor(concurrencyPerKey: number, time: Pick<Time, "now">) {
    this.#concurrencyPerKey = concurrencyPerKey;
    this.#time = time;
  }

  add(job: QueuedJob): void {
    for (const key of job.keys) this.addTo(key, job);
  }

  /** Adds a waiting job to the queue of a further key, which has joined it. */
  addTo(key: string, job: QueuedJob): void {
    const queue = this.#activate(key);
    if (queue.waiting === 0) queue.waitsSince = Math.max(queue.waitsSince, job.queuedAt);
    if (job.isFirstPiece) queue.firstPieces.add(job);
    else queue.laterPieces.put(job);
    queue.load += costOf(job);
    this.#sort(queue);
  }

  remove(job: QueuedJob): void {
    for (const key of job.keys) {
      const queue = this.#queues.get(key);
      const pieces = job.isFirstPiece ? queue?.firstPieces : queue?.laterPieces;
      if (!queue || !pieces?.delete(job)) continue;
      queue.load -= costOf(job);
      this.#settle(queue);
    }
  }

  /** True if a job of this key could run now, apart from the order. */
  mayHold(key: string): boolean {
    return (this.#queues.get(key)?.held ?? 0) < this.#concurrencyPerKey;
  }

  /** Runs a job that has not waited. Returns the function that ends it; to be called once. */
  hold(key: string, job: Pick<QueuedJob, "seconds">): () => void {
    return this.#hold(this.#activate(key), costOf(job));
  }

  /** True if there is a job to take. `fromReserve`: true if only reserved slots are free. */
  hasNext(fromReserve: boolean): boolean {
    return this.#next(fromReserve) !== undefined;
  }

  /**
   * Takes the next job, with the key that pays for it and the function that ends it; to be called
   * once.
   */
  take<Job extends QueuedJob>(fromReserve: boolean) {
    const queue = this.#next(fromReserve);
    if (!queue) return undefined;
    if (!fromReserve) this.#virtualTime = Math.max(this.#virtualTime, queue.effectiveStart);
    queue.wasFirstPiece = queue.isFirstPieceNext;
    const job = (queue.wasFirstPiece ? queue.firstPieces : queue.laterPieces).peek() as Job;
    const end = this.#hold(queue, costOf(job));
    this.remove(job);
    return { job, key: queue.key, end };
  }

  /**
   * True if a key with a waiting job has had another one, waiting, running or served, since that
   * time.
   */
  hasOtherJobs(key: string, since: number): boolean {
    const queue = this.#queues.get(key);
    return queue !== undefined && (queue.held > 0 || queue.waiting > 1 || queue.waitsSince > since);
  }

  /** Returns the number of first pieces that wait in this key's queue. */
  firstPiecesOf(key: string): number {
    return this.#queues.get(key)?.firstPieces.size ?? 0;
  }

  /**
   * Returns the earliest time since which a key that may run another job has waited; infinity if no
   * key waits.
   */
  oldestWait(): number {
    let oldest = Number.POSITIVE_INFINITY;
    for (const queue of this.#queues.values())
      if (this.#isEligible(queue)) oldest = Math.min(oldest, queue.waitsSince);
    return oldest;
  }

  /** Returns the number of keys that are remembered. */
  size(): number {
    return this.#queues.size + this.#idle.size;
  }

  #next(fromReserve: boolean): KeyQueue | undefined {
    return (fromReserve ? this.#light : this.#eligible).peek();
  }

  #isEligible({ waiting, held }: KeyQueue): boolean {
    return waiting > 0 && held < this.#concurrencyPerKey;
  }

  #sort(queue: KeyQueue): void {
    const isEligible = this.#isEligible(queue);
    const isLight = isEligible && queue.isFirstPieceNext && queue.load <= lightSeconds;
    if (isEligible) this.#eligible.put(queue);
    else this.#eligible.delete(queue);
    if (isLight) this.#light.put(queue);
    else this.#light.delete(queue);
  }

  #activate(key: string): KeyQueue {
    const active = this.#queues.get(key);
    if (active) return active;
    const queue = this.#idle.get(key) ?? new KeyQueue(key);
    this.#idle.delete(key);
    queue.start = Math.max(this.#virtualTime, queue.start);
    this.#queues.set(key, queue);
    return queue;
  }

  #hold(queue: KeyQueue, cost: number): () => void {
    queue.held++;
    queue.load += cost;
    queue.start += cost;
    queue.servedAs = ++this.#served;
    queue.waitsSince = this.#time.now();
    this.#virtualTime += cost / this.#queues.size;
    this.#sort(queue);
    return () => {
      queue.held--;
      queue.load -= cost;
      this.#settle(queue);
    };
  }

  #settle(queue: KeyQueue): void {
    this.#sort(queue);
    if (queue.waiting > 0 || queue.held > 0) return;
    this.#queues.delete(queue.key);
    queue.load = 0; // it contains only rounding errors
    if (queue.start > this.#virtualTime) this.#idle.set(queue.key, queue);
    if (this.#queues.size === 0) this.#idle.clear();
    else this.#forgetIdle();
  }

  /**
   * Checks two keys for each job that ends. Forgets those whose start time the virtual time has
   * reached, and any key if too many are remembered.
   */
  #forgetIdle(): void {
    for (let count = 0; count < 2; count++) {
      const [oldest] = this.#idle;
      if (!oldest) return;
      const [key, queue] = oldest;
      this.#idle.delete(key);
      if (queue.start > this.#virtualTime && this.#idle.size < maxIdle) this.#idle.set(key, queue);
    }
  }
}

const costOf = ({ seconds }: Pick<QueuedJob, "seconds">): number => Math.max(minSeconds, seconds);

const goesBefore = (one: KeyQueue, other: KeyQueue): boolean => {
  const difference = one.effectiveStart - other.effectiveStart;
  return difference < 0 || (difference === 0 && one.servedAs < other.servedAs);
};
