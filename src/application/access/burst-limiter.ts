import { LRUCache } from "lru-cache";

/** Counts requests per key and client in a sliding window. */
export interface BurstLimiter {
  /** Counts a request and returns true, or returns false if it would exceed the limit. */
  tryAcquire(id: string, limit: number): boolean;
  /** The time without requests after which the full limit is available. */
  readonly recoveryMs: number;
}

/** Steps per window. The effective window is at most one step longer than configured, and never shorter. */
const slots = 20;
/** The current slot and a full window of slots. */
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

/** Clears the slots that have left the window. */
const advance = (window: Window, slot: number): void => {
  const steps = Math.min(slot - window.slot, cells);
  for (let step = 1; step <= steps; step++) {
    const index = (window.slot + step) % cells;
    window.sum -= window.counts[index] ?? 0;
    window.counts[index] = 0;
  }
  window.slot = slot;
};
