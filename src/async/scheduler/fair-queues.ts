import { createFifo, type Fifo } from "./fifo.ts";
import { createIndexedHeap, type IndexedHeap } from "./indexed-heap.ts";

/** A job that waits in the queue of each of its keys and is served from one of them. */
export interface QueuedJob {
  readonly keys: ReadonlySet<string>;
  /** Cost: estimated seconds of speech. */
  readonly seconds: number;
  /** The first piece of an answer: somebody waits for its first byte. */
  readonly isFirstPiece: boolean;
  /** Of its answer: see Claim. */
  readonly order: number;
}

export interface FairQueuesOptions {
  /** Jobs of one key that may run at once. */
  readonly concurrencyPerKey: number;
  /** In milliseconds. */
  readonly now: () => number;
}

interface Taken<Job> {
  readonly job: Job;
  readonly key: string;
  readonly end: () => void;
}

/** One key's jobs. */
interface KeyQueue {
  readonly key: string;
  readonly firstPieces: Fifo<QueuedJob>;
  /** Those of the oldest answer first: if all advanced alike, all would miss their deadlines. */
  readonly laterPieces: IndexedHeap<QueuedJob>;
  /** Running jobs. */
  held: number;
  /** Cost of the waiting and running jobs. */
  load: number;
  /** Virtual time at which its next job starts: how much speech it has got, on the scale of all keys. */
  start: number;
  wasFirstPiece: boolean;
  /** Number of the job that was served last, in all queues. */
  servedAs: number;
  /** When a job of this key was served last, or the first one joined. */
  waitsSince: number;
}

/**
 * How far first pieces may run ahead of their key's share, in seconds of speech: about ten sentences. A key that has
 * used it up waits like all others, so that first pieces starve no key.
 */
const leadSeconds = 30;

/** Keys with at most this much work may use reserved slots: about five sentences. */
const lightSeconds = 15;

/** No job is free, or jobs of unknown length would never count. */
const leastSeconds = 0.5;

/** Keys without jobs that are remembered because they are ahead of their share. */
const maxIdle = 10_000;

/**
 * One queue per key, served in the order of start-time fair queueing: the key with the lowest virtual start time goes
 * first, and each job moves its key's start time by its cost (Goyal, Vin, Cheng: "Start-time Fair Queuing", 1996; for
 * several slots: Jin, Chase, Kaur, "Interposed proportional sharing", SFQ(D), 2004). So keys with waiting jobs get equal
 * shares, to within one job.
 *
 * Two additions. First pieces borrow virtual time up to a bound (Duda, Cheriton: "Borrowed-virtual-time scheduling",
 * 1999). Virtual time also advances by each job's cost divided by the number of active keys, as under generalized
 * processor sharing, so that an endless series of new keys starves no key.
 *
 * Adding, deleting and taking a job take O(log n) for n keys.
 */
export const createFairQueues = ({ concurrencyPerKey, now }: FairQueuesOptions) => {
  const queues = new Map<string, KeyQueue>();
  const idle = new Map<string, KeyQueue>();
  const eligible = createIndexedHeap<KeyQueue>(goesBefore);
  /** Those with little work, whose next job is a first piece: they may use reserved slots. */
  const light = createIndexedHeap<KeyQueue>(goesBefore);
  let virtualTime = 0;
  let served = 0;

  const sort = (queue: KeyQueue): void => {
    const isEligible = waitingIn(queue) > 0 && queue.held < concurrencyPerKey;
    const isLight = isEligible && isFirstPieceNext(queue) && queue.load <= lightSeconds;
    if (isEligible) eligible.put(queue);
    else eligible.delete(queue);
    if (isLight) light.put(queue);
    else light.delete(queue);
  };

  const activate = (key: string): KeyQueue => {
    const active = queues.get(key);
    if (active) return active;
    const queue = idle.get(key) ?? newQueue(key);
    idle.delete(key);
    queue.start = Math.max(virtualTime, queue.start);
    queues.set(key, queue);
    return queue;
  };

  const settle = (queue: KeyQueue): void => {
    const { key } = queue;
    sort(queue);
    if (waitingIn(queue) > 0 || queue.held > 0) return;
    queues.delete(key);
    queue.load = 0; // the sum of rounding errors
    if (queue.start > virtualTime) idle.set(key, queue);
    if (queues.size === 0) idle.clear();
    else forgetIdle();
  };

  /** Two for each job that ends: keys whose share has caught up with them need not be remembered. */
  const forgetIdle = (): void => {
    for (let count = 0; count < 2; count++) {
      const [oldest] = idle;
      if (!oldest) return;
      const [key, queue] = oldest;
      idle.delete(key);
      if (queue.start > virtualTime && idle.size < maxIdle) idle.set(key, queue);
    }
  };

  const addTo = (key: string, job: QueuedJob): void => {
    const queue = activate(key);
    if (waitingIn(queue) === 0) queue.waitsSince = now();
    if (job.isFirstPiece) queue.firstPieces.add(job);
    else queue.laterPieces.put(job);
    queue.load += costOf(job);
    sort(queue);
  };

  const remove = (job: QueuedJob): void => {
    for (const key of job.keys) {
      const queue = queues.get(key);
      if (!queue || !piecesLike(queue, job).delete(job)) continue;
      queue.load -= costOf(job);
      settle(queue);
    }
  };

  /** Returns the function that ends the job; to be called once. */
  const hold = (queue: KeyQueue, cost: number): (() => void) => {
    queue.held++;
    queue.load += cost;
    queue.start += cost;
    queue.servedAs = ++served;
    queue.waitsSince = now();
    virtualTime += cost / queues.size;
    sort(queue);
    return () => {
      queue.held--;
      queue.load -= cost;
      settle(queue);
    };
  };

  return {
    add: (job: QueuedJob): void => {
      for (const key of job.keys) addTo(key, job);
    },
    /** A further key has joined a waiting job. */
    addTo,
    remove,
    /** True if a job of this key could run now, apart from the order. */
    mayHold: (key: string): boolean => (queues.get(key)?.held ?? 0) < concurrencyPerKey,
    /** Runs a job that has not waited. Returns the function that ends it; to be called once. */
    hold: (key: string, job: Pick<QueuedJob, "seconds">): (() => void) => hold(activate(key), costOf(job)),
    hasNext: (fromReserve: boolean): boolean => (fromReserve ? light : eligible).peek() !== undefined,
    /**
     * Takes the next job, with the key that pays for it and the function that ends it; to be called once. `fromReserve`:
     * only reserved slots are free.
     */
    take: <Job extends QueuedJob>(fromReserve: boolean): Taken<Job> | undefined => {
      const queue = (fromReserve ? light : eligible).peek();
      if (!queue) return undefined;
      if (!fromReserve) virtualTime = Math.max(virtualTime, orderOf(queue));
      queue.wasFirstPiece = isFirstPieceNext(queue);
      const job = (queue.wasFirstPiece ? queue.firstPieces : queue.laterPieces).peek() as Job;
      const end = hold(queue, costOf(job));
      remove(job);
      return { job, key: queue.key, end };
    },
    /** First pieces that wait in this key's queue. */
    firstPiecesOf: (key: string): number => queues.get(key)?.firstPieces.size ?? 0,
    /** Since when a key waits that may run another job; undefined if none does. */
    oldestWait: (): number | undefined => {
      let oldest: number | undefined;
      for (const queue of queues.values()) {
        if (waitingIn(queue) === 0 || queue.held >= concurrencyPerKey) continue;
        oldest = Math.min(oldest ?? queue.waitsSince, queue.waitsSince);
      }
      return oldest;
    },
    /** Keys that are remembered. */
    size: (): number => queues.size + idle.size,
  };
};

const newQueue = (key: string): KeyQueue => ({
  key,
  firstPieces: createFifo(),
  laterPieces: createIndexedHeap((one, other) => one.order < other.order),
  held: 0,
  load: 0,
  start: 0,
  wasFirstPiece: false,
  servedAs: 0,
  waitsSince: 0,
});

const costOf = ({ seconds }: Pick<QueuedJob, "seconds">): number => Math.max(leastSeconds, seconds);

const piecesLike = (
  queue: KeyQueue,
  { isFirstPiece }: QueuedJob,
): Fifo<QueuedJob> | IndexedHeap<QueuedJob> => (isFirstPiece ? queue.firstPieces : queue.laterPieces);

const waitingIn = ({ firstPieces, laterPieces }: KeyQueue): number => firstPieces.size + laterPieces.size;

/** Of one key, first and later pieces alternate: neither new answers nor begun ones wait for all others. */
const isFirstPieceNext = ({ firstPieces, laterPieces, wasFirstPiece }: KeyQueue): boolean =>
  firstPieces.size > 0 && (laterPieces.size === 0 || !wasFirstPiece);

const orderOf = (queue: KeyQueue): number => queue.start - (isFirstPieceNext(queue) ? leadSeconds : 0);

const goesBefore = (one: KeyQueue, other: KeyQueue): boolean => {
  const difference = orderOf(one) - orderOf(other);
  return difference < 0 || (difference === 0 && one.servedAs < other.servedAs);
};
