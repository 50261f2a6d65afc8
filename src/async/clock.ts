/** A monotonic clock in milliseconds, with timers. */
export interface Clock {
  now(): number;
  /** Calls `run` once, `ms` milliseconds from now, or soon if `ms` is negative. The returned function cancels it. */
  after(ms: number, run: () => void): () => void;
}

const clockOf = ({ keepsProcessAlive }: { readonly keepsProcessAlive: boolean }): Clock => ({
  now: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, Math.max(0, ms));
    if (!keepsProcessAlive) timer.unref();
    return () => clearTimeout(timer);
  },
});

export const systemClock = clockOf({ keepsProcessAlive: true });

/** The system clock with timers that do not keep the process alive. */
export const backgroundClock = clockOf({ keepsProcessAlive: false });
