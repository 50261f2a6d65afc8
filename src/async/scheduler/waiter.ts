/** The API keys for which one job waits. Further keys may join while it waits or runs. */
export type Waiter = ReturnType<typeof createWaiter>;

let lastSequence = 0;

/**
 * Returns the time in milliseconds, always later than the one before. Processes of one machine can
 * compare these times.
 */
const nextSequence = (): number => {
  lastSequence = Math.max(performance.timeOrigin + performance.now(), lastSequence + 0.001);
  return lastSequence;
};

/**
 * Creates a waiter. Without a key it has a queue of its own. `seconds`: the estimated duration of
 * the whole response when it is spoken.
 */
export const createWaiter = (key = `anonymous ${nextSequence()}`, seconds = 1, sequence = nextSequence()) => {
  const keys = new Set([key]);
  const listeners = new Set<(key: string) => void>();
  return {
    keys: keys as ReadonlySet<string>,
    seconds,
    /** Waiters that were created later have higher numbers. */
    sequence,
    join: (another: string): void => {
      if (keys.has(another)) return;
      keys.add(another);
      for (const listener of [...listeners]) listener(another);
    },
    /** Calls the listener with each key that joins. The returned function removes the listener. */
    onJoin: (listener: (key: string) => void): (() => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
};
