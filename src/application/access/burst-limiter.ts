import { LRUCache } from "lru-cache";

/** Counts over a sliding window, for each (key, client). */
export interface BurstLimiter {
  /** Counts one request and answers whether it is within the limit; one beyond it is not counted. */
  tryAcquire(id: string, limit: number): boolean;
  /** After so long without a request any number within the limit passes. */
  readonly recoveryMs: number;
}

/** The window moves in steps of this part of it: it is at most so much longer than asked for, and never shorter. */
const slots = 20;
/** The slot that has just begun beside a whole window of them. */
const cells = slots + 1;
const maxClients = 50_000;

interface Window {
  readonly counts: Uint32Array;
  sum: number;
  slot: number;
}

/** `uptime`: milliseconds that never go back. */
export const createBurstLimiter = (windowMs: number, uptime = () => performance.now()): BurstLimiter => {
  const windows = new LRUCache<string, Window>({ max: maxClients });
  const slotMs = windowMs / slots;

  return {
    tryAcquire: (id, limit) => {
      const slot = Math.floor(uptime() / slotMs);
      let window = windows.get(id);
      if (!window) {
        window = { counts: new Uint32Array(cells), sum: 0, slot };
        windows.set(id, window);
      }
      advance(window, slot);
      if (window.sum >= limit) return false;
      window.counts[slot % cells] = (window.counts[slot % cells] ?? 0) + 1;
      window.sum += 1;
      return true;
    },
    recoveryMs: windowMs + slotMs,
  };
};

/** Forgets the slots that have left the window. */
const advance = (window: Window, slot: number): void => {
  const steps = Math.min(slot - window.slot, cells);
  for (let step = 1; step <= steps; step++) {
    const index = (window.slot + step) % cells;
    window.sum -= window.counts[index] ?? 0;
    window.counts[index] = 0;
  }
  window.slot = slot;
};
