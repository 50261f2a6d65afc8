import { LRUCache } from "lru-cache";
import type { EpochMs } from "../domain/time.ts";

/** Gives back what was acquired. Repeated calls do nothing. */
export type Release = () => void;

/** Limits what each key or client has at once, or in each window of time. */
export interface Limit {
  /** Counts one more until it is released. Undefined if the limit is reached. */
  tryAcquire(key: string): Release | undefined;
}

export interface RefusingLimit extends Limit {
  /** Like `tryAcquire`. @throws the refusal */
  acquire(key: string): Release;
}

export const refusing = (limit: Limit, refusal: () => Error): RefusingLimit => ({
  ...limit,
  acquire: (key) => {
    const release = limit.tryAcquire(key);
    if (!release) throw refusal();
    return release;
  },
});

/** Allows each key `atMost` at once. */
export const createConcurrencyLimit = (atMost: number): Limit => {
  const held = new Map<string, number>();
  return {
    tryAcquire: (key) => {
      const before = held.get(key) ?? 0;
      if (before >= atMost) return undefined;
      held.set(key, before + 1);
      return once(() => {
        const left = (held.get(key) ?? 1) - 1;
        if (left > 0) held.set(key, left);
        else held.delete(key);
      });
    },
  };
};

/** Bounds the memory: the least recently seen key is forgotten. */
const maxKeys = 50_000;

const neverReturned: Release = () => {};

export interface Window {
  readonly atMost: number;
  readonly windowMs: number;
}

/**
 * Allows each key `atMost` in each window of time. Windows begin at multiples of their length. What
 * was acquired counts until the window ends.
 */
export const createRateLimit = ({ atMost, windowMs }: Window, clock: () => EpochMs): Limit => {
  // `max` would allocate lists of this length at once: 4 ms and 1 MB.
  const counts = new LRUCache<string, number>({ maxSize: maxKeys, sizeCalculation: () => 1 });
  let window = Number.NaN;
  return {
    tryAcquire: (key) => {
      const current = Math.floor(clock() / windowMs);
      if (current !== window) counts.clear();
      window = current;
      const before = counts.get(key) ?? 0;
      if (before >= atMost) return undefined;
      counts.set(key, before + 1);
      return neverReturned;
    },
  };
};

/** Whole seconds until the window ends, at least 1: `Retry-After`. */
export const secondsLeft = (now: number, windowMs: number): number =>
  Math.ceil((windowMs - (now % windowMs)) / 1_000);

/** The function, for one call; further calls do nothing. */
export const once = (run: () => void): Release => {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    run();
  };
};
