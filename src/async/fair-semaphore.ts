import { Unavailable } from "../domain/errors.ts";
import type { Claim } from "./claim.ts";
import { type Clock, systemClock } from "./clock.ts";

/** A number of slots, and a queue per API key. The queues are served in turn. */
export interface FairSemaphore {
  /**
   * Resolves with a function that gives the slot back, when it is the claim's turn in the queue of any of its keys.
   * Work that `isContinuation` something begun goes before what its key begins, is not refused, and waits until `signal` is
   * aborted.
   * @throws {Unavailable} the queue of each of its keys is full, or all queues are, or no slot is free in time
   * @throws the signal's reason when it is aborted first
   */
  acquire(
    claim: Claim,
    signal: AbortSignal,
    options?: { readonly isContinuation?: boolean },
  ): Promise<() => void>;
  /** For work that costs something to prepare. @throws {Unavailable} if `acquire` would refuse the claim now */
  requireCapacity(claim: Claim): void;
  running(): number;
  queued(): number;
}

export interface FairSemaphoreOptions {
  readonly concurrency: number;
  /** Slots that one key may hold. */
  readonly concurrencyPerKey: number;
  /** How many may wait to begin, in all queues and in the queue of one key. */
  readonly queueLimit: number;
  readonly queueLimitPerKey: number;
  /** How long one may wait to begin, in milliseconds. */
  readonly queueTimeoutMs: number;
  readonly clock?: Clock;
}

interface Waiting {
  readonly claim: Claim;
  readonly isContinuation: boolean;
  /** Takes the slot, on the account of that key. */
  readonly enter: (key: string) => void;
}

const tooMuch = () => new Unavailable("Too much speech is being made at once.", 1);
const tooMuchOfKey = () => new Unavailable("Too much speech of this API key is waiting to be made.", 2);

export const createFairSemaphore = (options: FairSemaphoreOptions): FairSemaphore => {
  const {
    concurrency,
    concurrencyPerKey,
    queueLimit,
    queueLimitPerKey,
    queueTimeoutMs,
    clock = systemClock,
  } = options;
  const queue = new Set<Waiting>();
  const held = new Map<string, number>();
  /** When each key with slots or waiting work was last served, or first came: by the number of slots given until then. */
  const lastServed = new Map<string, number>();
  let given = 0;
  let running = 0;

  const heldBy = (key: string): number => held.get(key) ?? 0;
  const servedAt = (key: string): number => lastServed.get(key) ?? given;

  /** Of the claim's keys that may hold another slot, the one that was served longest ago. */
  const keyOf = ({ keys }: Claim): string | undefined =>
    [...keys]
      .filter((key) => heldBy(key) < concurrencyPerKey)
      .sort((one, other) => servedAt(one) - servedAt(other))[0];

  const next = (): { waiting: Waiting; key: string } | undefined => {
    let best: { waiting: Waiting; key: string; order: number } | undefined;
    for (const waiting of queue) {
      const key = keyOf(waiting.claim);
      if (key === undefined) continue;
      const order = servedAt(key) - (waiting.isContinuation ? 0.5 : 0);
      if (!best || order < best.order) best = { waiting, key, order };
    }
    return best;
  };

  const note = ({ keys }: Claim): void => {
    for (const key of keys) if (!lastServed.has(key)) lastServed.set(key, given);
  };

  const forgetIdle = ({ keys }: Claim): void => {
    for (const key of keys) {
      if (heldBy(key) > 0 || [...queue].some(({ claim }) => claim.keys.has(key))) continue;
      held.delete(key);
      lastServed.delete(key);
    }
  };

  const dispatch = (): void => {
    while (running < concurrency) {
      const found = next();
      if (!found) return;
      running++;
      held.set(found.key, heldBy(found.key) + 1);
      lastServed.set(found.key, ++given);
      found.waiting.enter(found.key);
    }
  };

  const releaseOf = (claim: Claim, key: string) => (): void => {
    running--;
    held.set(key, heldBy(key) - 1);
    dispatch();
    forgetIdle(claim);
  };

  /** Why one more that wants to begin with this claim may not wait. */
  const refusal = ({ keys }: Claim): Unavailable | undefined => {
    const beginning = [...queue].filter(({ isContinuation }) => !isContinuation);
    const waitingOf = (key: string) => beginning.filter(({ claim }) => claim.keys.has(key)).length;
    if ([...keys].every((key) => waitingOf(key) >= queueLimitPerKey)) return tooMuchOfKey();
    return beginning.length >= queueLimit ? tooMuch() : undefined;
  };

  const wait = (claim: Claim, isContinuation: boolean, signal: AbortSignal): Promise<() => void> =>
    new Promise((resolve, reject) => {
      const leaveQueue = () => {
        queue.delete(waiting);
        cancelTimer();
        stopListening();
        signal.removeEventListener("abort", onAbort);
      };
      const fail = (reason: unknown) => {
        leaveQueue();
        forgetIdle(claim);
        reject(reason);
      };
      const onAbort = () => fail(signal.reason);
      const enter = (key: string) => {
        leaveQueue();
        resolve(releaseOf(claim, key));
      };
      const waiting: Waiting = { claim, isContinuation, enter };
      const cancelTimer = isContinuation
        ? () => undefined
        : clock.after(queueTimeoutMs, () => fail(tooMuch()));
      const stopListening = claim.onJoin(() => {
        note(claim);
        dispatch();
      });
      signal.addEventListener("abort", onAbort, { once: true });
      const refused = isContinuation ? undefined : refusal(claim);
      queue.add(waiting);
      note(claim);
      dispatch();
      if (refused && queue.has(waiting)) fail(refused);
    });

  return {
    acquire: async (claim, signal, { isContinuation = false } = {}) => {
      signal.throwIfAborted();
      return await wait(claim, isContinuation, signal);
    },
    requireCapacity: (claim) => {
      if (running < concurrency && keyOf(claim) !== undefined) return;
      const refused = refusal(claim);
      if (refused) throw refused;
    },
    running: () => running,
    queued: () => queue.size,
  };
};
