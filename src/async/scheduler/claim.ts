/** The API keys for which one job waits. Further keys may join while it waits or runs. */
export interface Claim {
  readonly keys: ReadonlySet<string>;
  /** Estimated duration of the whole answer when it is spoken. */
  readonly seconds: number;
  /** Lower than that of claims that were created later. */
  readonly order: number;
  join(key: string): void;
  /** Calls the listener with each key that joins. The returned function removes the listener. */
  onJoin(listener: (key: string) => void): () => void;
}

let anonymous = 0;
let claims = 0;

/** A claim without a key has a queue of its own. */
export const createClaim = (key = `anonymous ${anonymous++}`, seconds = 1): Claim => {
  const keys = new Set([key]);
  const listeners = new Set<(key: string) => void>();
  return {
    keys,
    seconds,
    order: claims++,
    join: (another) => {
      if (keys.has(another)) return;
      keys.add(another);
      for (const listener of [...listeners]) listener(another);
    },
    onJoin: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
};
