/** An answer that is asked for once and kept; after a failure it is asked for again. */
export interface AskedOnce<T> {
  get(): Promise<T>;
  /** The next `get` asks anew. */
  forget(): void;
}

export const askedOnce = <T>(ask: () => Promise<T>): AskedOnce<T> => {
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
    forget: () => {
      asked = undefined;
    },
  };
};
