import type { Claim } from "./claim.ts";
import { type Clock, systemClock } from "./clock.ts";

/** A semaphore with one queue per key. The queues are served in turn. */
export interface FairSemaphore {
  /**
   * Resolves with a function that releases the slot, when it is the claim's turn in the queue of any of its keys. A
   * continuation belongs to work that has begun: it goes before new work of the same key, is not refused, and waits
   * until `signal` is aborted.
   * @throws `overloaded()` if the queue of each of its keys is full, all queues are full, or no slot is free in time
   * @throws the signal's reason
   */
  acquire(
    claim: Claim,
    signal: AbortSignal,
    options?: { readonly isContinuation?: boolean },
  ): Promise<() => void>;
  /** @throws `overloaded()` if `acquire` would refuse the claim now */
  requireCapacity(claim: Claim): void;
  running(): number;
  queued(): number;
}

export interface FairSemaphoreOptions {
  readonly concurrency: number;
  /** Slots that one key may hold. */
  readonly concurrencyPerKey: number;
  /** Limits how often a slot may be acquired. Default: no limit. */
  readonly startLimit?: StartLimit;
  /** Waiting claims, continuations not counted: in all queues, and in the queue of one key. */
  readonly queueLimit: number;
  readonly queueLimitPerKey: number;
  /** Longest wait in milliseconds, continuations excepted. */
  readonly queueTimeoutMs: number;
  /** The error of refused claims: all slots are busy, or this key's queue is full. */
  readonly overloaded: (scope: "all" | "key") => Error;
  readonly clock?: Clock;
}

export interface StartLimit {
  /** If true, calls `retry` when the next start is possible. */
  mustWait(retry: () => void): boolean;
  started(): void;
}

interface Waiting {
  readonly claim: Claim;
  readonly isContinuation: boolean;
  /** The key on whose account it has got a slot. */
  readonly turn: Promise<string>;
  /** Gives it the slot, on that key's account. */
  readonly enter: (key: string) => void;
  readonly fail: (reason: unknown) => void;
}

export const createFairSemaphore = (options: FairSemaphoreOptions): FairSemaphore => {
  const { concurrency, startLimit, queueTimeoutMs, overloaded, clock = systemClock } = options;
  const queue = new Set<Waiting>();
  const keys = createKeyAccounts(options.concurrencyPerKey);
  let running = 0;

  const dispatch = (): void => {
    while (running < concurrency) {
      const found = nextOf(queue, keys);
      if (!found || startLimit?.mustWait(dispatch)) return;
      running++;
      startLimit?.started();
      keys.acquired(found.key);
      found.waiting.enter(found.key);
    }
  };

  const releaseOnce = (claim: Claim, key: string) => {
    let isReleased = false;
    return (): void => {
      if (isReleased) return;
      isReleased = true;
      running--;
      keys.released(key);
      // Deferred: a continuation that the holder requests next goes before new work.
      setImmediate(() => {
        dispatch();
        keys.forgetIdle(claim, queue);
      });
    };
  };

  return {
    acquire: async (claim, signal, { isContinuation = false } = {}) => {
      signal.throwIfAborted();
      const refused = isContinuation ? undefined : refusal(queue, claim, options);
      const onJoin = () => {
        keys.track(claim);
        dispatch();
      };
      const onFail = () => keys.forgetIdle(claim, queue);
      const timeoutMs = isContinuation ? undefined : queueTimeoutMs;
      const rules = { signal, clock, timeoutMs, overloaded, onJoin, onFail };
      const waiting = joinQueue(queue, claim, isContinuation, rules);
      onJoin();
      if (refused && queue.has(waiting)) waiting.fail(refused);
      return releaseOnce(claim, await waiting.turn);
    },
    requireCapacity: (claim) => {
      if (running < concurrency && keys.nextOf(claim) !== undefined) return;
      const refused = refusal(queue, claim, options);
      if (refused) throw refused;
    },
    running: () => running,
    queued: () => queue.size,
  };
};

interface QueueOptions extends Pick<FairSemaphoreOptions, "overloaded"> {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly timeoutMs: number | undefined;
  readonly onJoin: () => void;
  readonly onFail: () => void;
}

const joinQueue = (
  queue: Set<Waiting>,
  claim: Claim,
  isContinuation: boolean,
  { signal, clock, timeoutMs, overloaded, onJoin, onFail }: QueueOptions,
): Waiting => {
  const { promise: turn, resolve, reject } = Promise.withResolvers<string>();
  const leave = () => {
    queue.delete(waiting);
    cancelTimer?.();
    stopListening();
    signal.removeEventListener("abort", onAbort);
  };
  const enter = (key: string) => {
    leave();
    resolve(key);
  };
  const fail = (reason: unknown) => {
    leave();
    onFail();
    reject(reason);
  };
  const waiting = { claim, isContinuation, turn, enter, fail };
  const onAbort = () => fail(signal.reason);
  const cancelTimer =
    timeoutMs === undefined ? undefined : clock.after(timeoutMs, () => fail(overloaded("all")));
  const stopListening = claim.onJoin(onJoin);
  signal.addEventListener("abort", onAbort, { once: true });
  queue.add(waiting);
  return waiting;
};

const refusal = (
  queue: ReadonlySet<Waiting>,
  { keys }: Claim,
  { queueLimit, queueLimitPerKey, overloaded }: FairSemaphoreOptions,
): Error | undefined => {
  const beginning = [...queue].filter(({ isContinuation }) => !isContinuation);
  const waitingOf = (key: string) => beginning.filter(({ claim }) => claim.keys.has(key)).length;
  if ([...keys].every((key) => waitingOf(key) >= queueLimitPerKey)) return overloaded("key");
  return beginning.length >= queueLimit ? overloaded("all") : undefined;
};

const nextOf = (
  queue: ReadonlySet<Waiting>,
  keys: KeyAccounts,
): { readonly waiting: Waiting; readonly key: string } | undefined => {
  let best: { waiting: Waiting; key: string; order: number } | undefined;
  for (const waiting of queue) {
    const key = keys.nextOf(waiting.claim);
    if (key === undefined) continue;
    const order = keys.servedAt(key) - (waiting.isContinuation ? 0.5 : 0);
    if (!best || order < best.order) best = { waiting, key, order };
  }
  return best;
};

type KeyAccounts = ReturnType<typeof createKeyAccounts>;

/** Counts the slots of each key, and remembers which key was served least recently. */
const createKeyAccounts = (concurrencyPerKey: number) => {
  const held = new Map<string, number>();
  /** Per active key: the number of slots given until it was last served, or first came. */
  const lastServed = new Map<string, number>();
  let given = 0;

  const heldBy = (key: string): number => held.get(key) ?? 0;
  const servedAt = (key: string): number => lastServed.get(key) ?? given;

  return {
    servedAt,
    /** Of the claim's keys that may hold another slot, the least recently served. */
    nextOf: ({ keys }: Claim): string | undefined =>
      [...keys]
        .filter((key) => heldBy(key) < concurrencyPerKey)
        .sort((one, other) => servedAt(one) - servedAt(other))[0],
    acquired: (key: string): void => {
      held.set(key, heldBy(key) + 1);
      lastServed.set(key, ++given);
    },
    released: (key: string): void => void held.set(key, heldBy(key) - 1),
    track: ({ keys }: Claim): void => {
      for (const key of keys) if (!lastServed.has(key)) lastServed.set(key, given);
    },
    forgetIdle: ({ keys }: Claim, queue: ReadonlySet<Waiting>): void => {
      for (const key of keys) {
        if (heldBy(key) > 0 || [...queue].some(({ claim }) => claim.keys.has(key))) continue;
        held.delete(key);
        lastServed.delete(key);
      }
    },
  };
};
