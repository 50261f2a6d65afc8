import type { Time } from "../../../src/async/time.ts";
import type { LoggedEvent } from "./logged-event.ts";

export interface IndexingOptions {
  /** Milliseconds until an append is indexed, called for each. */
  readonly lagMs: () => number;
  readonly time: Time;
  readonly onIndexed: (events: readonly LoggedEvent[]) => void;
}

/** Indexes appends after a lag, in the log's order. */
export const createIndexing = ({ lagMs, time, onIndexed }: IndexingOptions) => {
  const pending: { readonly events: readonly LoggedEvent[]; isDue: boolean }[] = [];

  const indexDue = (): void => {
    while (pending[0]?.isDue) onIndexed(pending.shift()?.events ?? []);
  };

  return {
    add: (events: readonly LoggedEvent[]): void => {
      const lag = lagMs();
      const entry = { events, isDue: lag <= 0 };
      pending.push(entry);
      const becomeDue = (): void => {
        entry.isDue = true;
        indexDue();
      };
      if (entry.isDue) indexDue();
      else time.after(lag, becomeDue);
    },
  };
};

/**
 * Returns lags that are mostly a few milliseconds, sometimes up to `maxMs`. The seed decides them.
 */
export const randomLag = (seed: number, maxMs = 200): (() => number) => {
  const random = seededRandom(seed);
  return () => random() ** 6 * maxMs;
};

/** The generator mulberry32. Its numbers are from 0 to 1, and the seed decides them. */
export const seededRandom = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};
