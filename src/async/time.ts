/** A monotonic clock in milliseconds, with timers. */
export interface Time {
  now(): number;
  /**
   * Calls `run` once, `ms` milliseconds from now, or soon if `ms` is negative. The returned
   * function cancels it.
   */
  after(ms: number, run: () => void): () => void;
}

const timeOf = ({ keepsProcessAlive }: { readonly keepsProcessAlive: boolean }): Time => ({
  now: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, Math.max(0, ms));
    if (!keepsProcessAlive) timer.unref();
    return () => clearTimeout(timer);
  },
});

export const systemTime = timeOf({ keepsProcessAlive: true });

/** The system clock with timers that do not keep the process alive. */
export const backgroundTime = timeOf({ keepsProcessAlive: false });
