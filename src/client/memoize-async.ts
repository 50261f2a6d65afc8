/** An answer that is asked for once and kept; after a failure it is asked for again. */
export interface Memoized<T> {
  get(): Promise<T>;
  /** The next `get` asks anew. */
  clear(): void;
}

export const memoizeAsync = <T>(ask: () => Promise<T>): Memoized<T> => {
  let asked: Promise<T> | undefined;
  return {
    get: () => {
      if (asked) return asked;
      const asking = ask();
      asked = asking;
      asking.catch(() => {
        if (asked === asking) asked = undefined;
      });
      return asking;
    },
    clear: () => {
      asked = undefined;
    },
  };
};
