/** A monotonic clock in milliseconds, with timers. */
export interface Clock {
  now(): number;
  /** Calls `run` once, `ms` milliseconds from now, or soon if `ms` is negative. The returned function cancels it. */
  after(ms: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, Math.max(0, ms));
    return () => clearTimeout(timer);
  },
};

/** The system clock with timers that do not keep the process alive. */
export const backgroundClock: Clock = {
  now: systemClock.now,
  after: (ms, run) => {
    const timer = setTimeout(run, Math.max(0, ms)).unref();
    return () => clearTimeout(timer);
  },
};
