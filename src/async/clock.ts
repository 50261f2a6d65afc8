/** Time as the parts that wait know it: milliseconds that never run backwards, from any beginning. */
export interface Clock {
  now(): number;
  /** Runs it once, so many milliseconds from now, unless the answer is called before. */
  after(ms: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/** The same, with timers that keep no process alive: for what need not happen once everything else is over. */
export const backgroundClock: Clock = {
  now: systemClock.now,
  after: (ms, run) => {
    const timer = setTimeout(run, ms).unref();
    return () => clearTimeout(timer);
  },
};
