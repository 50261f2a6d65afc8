import { LRUCache } from "lru-cache";
import type { EpochMs } from "../domain/time.ts";
import { type AskForMore, type Shares, wholeLimit } from "./shares.ts";

/** Gives back what was acquired. Repeated calls do nothing. */
export type Release = () => void;

/** Limits what each key or client has at once, or in each window of time. */
export interface Limit {
  /** Counts one more until it is released. Returns undefined if the limit is reached. */
  tryAcquire(key: string): Release | undefined;
}

/** A limit of which this process may have only a share. */
export interface SharedLimit extends Limit {
  /** See `Shares.more`. */
  more(key: string): AskForMore | undefined;
}

/**
 * A limit whose callers wait until it is known whether the limit is reached. It throws no refusal.
 */
export interface AskingLimit {
  /** Counts one more, until the window ends. Resolves with false if the limit is reached. */
  tryAcquire(key: string): Promise<boolean>;
}

export interface RefusingLimit extends Limit {
  /**
   * Like `tryAcquire`.
   * @throws the refusal
   */
  acquire(key: string): Release;
}

/**
 * Returns a limit that throws the refusal. `refusal` receives the function that asks for a larger
 * share.
 */
export const refusing = (
  limit: SharedLimit,
  refusal: (more: AskForMore | undefined) => Error,
): RefusingLimit => ({
  tryAcquire: limit.tryAcquire,
  acquire: (key) => {
    const release = limit.tryAcquire(key);
    if (!release) throw refusal(limit.more(key));
    return release;
  },
});

type OpenLimitShares = (used: (key: string) => number) => Shares;

/** Allows each key `atMost` at once. */
export const createConcurrencyLimit = (
  atMost: number,
  openShares: OpenLimitShares = () => wholeLimit,
): SharedLimit => {
  const held = new Map<string, number>();
  const heldBy = (key: string): number => held.get(key) ?? 0;
  const shares = openShares(heldBy);
  return {
    more: (key) => shares.more(key, atMost),
    tryAcquire: (key) => {
      if (heldBy(key) >= shares.of(key, atMost)) return undefined;
      held.set(key, heldBy(key) + 1);
      return once(() => {
        const left = (held.get(key) ?? 1) - 1;
        if (left > 0) held.set(key, left);
        else held.delete(key);
      });
    },
  };
};

/** Limits the memory: the least recently seen key is forgotten. */
const maxKeys = 50_000;

const releaseNothing: Release = () => {};

export interface Window {
  readonly atMost: number;
  readonly windowMs: number;
}

/**
 * Allows each key `atMost` in each window of time. Windows begin at multiples of their length. What
 * was acquired counts until the window ends.
 */
export const createRateLimit = (
  { atMost, windowMs }: Window,
  clock: () => EpochMs,
  openShares: OpenLimitShares = () => wholeLimit,
): SharedLimit => {
  // `max` would allocate lists of this length at once: 4 ms and 1 MB.
  const counts = new LRUCache<string, number>({ maxSize: maxKeys, sizeCalculation: () => 1 });
  let window = Number.NaN;
  const countOf = (key: string): number => {
    const current = Math.floor(clock() / windowMs);
    if (current !== window) counts.clear();
    window = current;
    return counts.get(key) ?? 0;
  };
  const shares = openShares(countOf);
  return {
    more: (key) => shares.more(key, atMost),
    tryAcquire: (key) => {
      const before = countOf(key);
      if (before >= shares.of(key, atMost)) return undefined;
      counts.set(key, before + 1);
      return releaseNothing;
    },
  };
};

/** Returns the whole seconds until the window ends, at least 1, for `Retry-After`. */
export const secondsLeft = (now: number, windowMs: number): number =>
  Math.ceil((windowMs - (now % windowMs)) / 1_000);

/** Returns a function that calls `run` once. Further calls do nothing. */
export const once = (run: () => void): Release => {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    run();
  };
};
