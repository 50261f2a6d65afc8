import { LRUCache } from "lru-cache";

/** Counts over a sliding window, for each (key, client). */
export interface BurstLimiter {
  /** Counts one request and answers whether it is within the limit; one beyond it is not counted. */
  take(id: string, limit: number, now: number): boolean;
}

/** The window moves in steps of this part of it: it is at most so much longer than asked for. */
const slots = 20;
const maxClients = 50_000;

interface Window {
  readonly counts: Uint32Array;
  sum: number;
  slot: number;
}

export const createBurstLimiter = (windowMs: number): BurstLimiter => {
  const windows = new LRUCache<string, Window>({ max: maxClients });
  const slotMs = windowMs / slots;

  return {
    take: (id, limit, now) => {
      const slot = Math.floor(now / slotMs);
      let window = windows.get(id);
      if (!window) {
        window = { counts: new Uint32Array(slots), sum: 0, slot };
        windows.set(id, window);
      }
      advance(window, slot);
      if (window.sum >= limit) return false;
      window.counts[slot % slots] = (window.counts[slot % slots] ?? 0) + 1;
      window.sum += 1;
      return true;
    },
  };
};

/** Forgets the slots that have left the window. */
const advance = (window: Window, slot: number): void => {
  const steps = Math.min(slot - window.slot, slots);
  for (let step = 1; step <= steps; step++) {
    const index = (window.slot + step) % slots;
    window.sum -= window.counts[index] ?? 0;
    window.counts[index] = 0;
  }
  if (slot > window.slot) window.slot = slot;
};
