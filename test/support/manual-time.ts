import { setTimeout as delay, setImmediate } from "node:timers/promises";
import type { Time } from "../../src/async/time.ts";

/** A clock that advances only on request. */
export interface ManualTime extends Time {
  /** Advances by this many milliseconds and runs the due timers, the earliest first. */
  advance(ms: number): void;
  /** The number of active timers. */
  waiting(): number;
}

export const createManualTime = (): ManualTime => {
  let now = 0;
  const timers = new Set<{ at: number; run: () => void }>();

  const nextUntil = (end: number) => {
    const due = [...timers].filter(({ at }) => at <= end);
    return due.sort((a, b) => a.at - b.at)[0];
  };

  return {
    now: () => now,
    after: (ms, run) => {
      const timer = { at: now + ms, run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance: (ms) => {
      const end = now + ms;
      for (let timer = nextUntil(end); timer; timer = nextUntil(end)) {
        timers.delete(timer);
        now = timer.at;
        timer.run();
      }
      now = end;
    },
    waiting: () => timers.size,
  };
};

/** A clock on which every wait ends at once: it then shows the end of the wait. */
export const createSkippingTime = (): Time => {
  let now = 0;
  return {
    now: () => now,
    after: (ms, run) => {
      let isCancelled = false;
      const end = now + ms;
      void setImmediate().then(() => {
        if (isCancelled) return;
        now = Math.max(now, end);
        run();
      });
      return () => {
        isCancelled = true;
      };
    },
  };
};

/** Turns of the event loop that are enough unless something outside this process is awaited. */
const maxTurns = 200;

/** Resolves when the condition holds; the test's own timeout ends a wait without success. */
export const until = async (condition: () => boolean): Promise<void> => {
  for (let turn = 0; !condition(); turn++) await (turn < maxTurns ? setImmediate() : delay(1));
};
