/** Caches the promise unless it rejects. `reload` replaces it. */
export const memoizeAsync = <T>(load: () => Promise<T>): ((options?: { reload: boolean }) => Promise<T>) => {
  let cached: Promise<T> | undefined;
  return ({ reload } = { reload: false }) => {
    if (cached && !reload) return cached;
    const loading = load();
    cached = loading;
    loading.catch(() => {
      if (cached === loading) cached = undefined;
    });
    return loading;
  };
};
