import { LRUCache } from "lru-cache";
import { systemTime, type Time } from "../async/time.ts";

/**
 * The number of slots in a window. The effective window is at most one slot longer than configured,
 * and never shorter.
 */
const slots = 20;
/** The current slot and a full window of slots. */
const cells = slots + 1;
const maxClients = 50_000;

export interface BurstWindow {
  /** The slot of the last request. */
  slot: number;
  sum: number;
  /**
   * The counts by slot. Undefined as long as all counted requests were in one slot, as is usual.
   */
  counts: number[] | undefined;
}

export type BurstLimiter = ReturnType<typeof createBurstLimiter>;

/** Counts requests per key and client in a sliding window. */
export const createBurstLimiter = (windowMs: number, time: Pick<Time, "now"> = systemTime) => {
  // `max` would allocate lists of this length at once: 4 ms and 1 MB.
  const windows = new LRUCache<string, BurstWindow>({ maxSize: maxClients, sizeCalculation: () => 1 });
  const slotMs = windowMs / slots;
  const currentSlot = (): number => Math.floor(time.now() / slotMs);

  return {
    /**
     * Returns the window of a key and client. Only the 50,000 most recently used windows are kept.
     * A caller may instead keep a window of its own.
     */
    windowOf: (id: string): BurstWindow => {
      const known = windows.get(id);
      if (known) return known;
      const window: BurstWindow = { slot: 0, sum: 0, counts: undefined };
      windows.set(id, window);
      return window;
    },
    /** Counts a request and returns true, or returns false if it would exceed the limit. */
    tryAcquire: (window: BurstWindow, limit: number): boolean => {
      const slot = currentSlot();
      advance(window, slot);
      if (window.sum >= limit) return false;
      window.sum += 1;
      if (window.counts) window.counts[slot % cells] = (window.counts[slot % cells] ?? 0) + 1;
      return true;
    },
    /** Returns the number of requests in the window. */
    countOf: (window: BurstWindow): number => {
      advance(window, currentSlot());
      return window.sum;
    },
    /** The time without requests after which the full limit is available. */
    recoveryMs: windowMs + slotMs,
  };
};

/** Removes the requests of the slots that have left the window. */
const advance = (window: BurstWindow, slot: number): void => {
  const steps = slot - window.slot;
  if (steps === 0) return;
  if (steps >= cells) {
    window.sum = 0;
    window.counts = undefined;
  } else {
    window.counts ??= countsOf(window);
    for (let left = window.slot + 1; left <= slot; left++) {
      window.sum -= window.counts[left % cells] ?? 0;
      window.counts[left % cells] = 0;
    }
  }
  window.slot = slot;
};

const countsOf = ({ slot, sum }: BurstWindow): number[] => {
  const counts = new Array<number>(cells).fill(0);
  counts[slot % cells] = sum;
  return counts;
};
