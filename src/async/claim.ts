/** The API keys for which one job waits. Further keys may join while it waits or runs. */
export interface Claim {
  readonly keys: ReadonlySet<string>;
  join(key: string): void;
  /** Calls the listener for each key that joins. The returned function removes the listener. */
  onJoin(listener: () => void): () => void;
}

let anonymous = 0;

/** A claim without a key has a queue of its own. */
export const createClaim = (key = `anonymous ${anonymous++}`): Claim => {
  const keys = new Set([key]);
  const listeners = new Set<() => void>();
  return {
    keys,
    join: (another) => {
      if (keys.has(another)) return;
      keys.add(another);
      for (const listener of [...listeners]) listener();
    },
    onJoin: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
};
