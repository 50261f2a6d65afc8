/**
 * Returns a function that loads at its first call. Every call has the same result, but after a
 * failure the next call loads again.
 */
export const lazy = <T>(load: () => Promise<T>): (() => Promise<T>) => {
  let loaded: Promise<T> | undefined;
  return () => {
    loaded ??= load().catch((error) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  };
};
