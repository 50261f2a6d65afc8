/** The API keys for which one job waits. Further keys may join while it waits or runs. */
export type Waiter = ReturnType<typeof createWaiter>;

let anonymous = 0;
let waiters = 0;

/**
 * A waiter without a key has a queue of its own. `seconds`: estimated duration of the whole
 * response when it is spoken.
 */
export const createWaiter = (key = `anonymous ${anonymous++}`, seconds = 1) => {
  const keys = new Set([key]);
  const listeners = new Set<(key: string) => void>();
  return {
    keys: keys as ReadonlySet<string>,
    seconds,
    /** Lower than that of waiters that were created later. */
    sequence: waiters++,
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
