/** A queue whose consumer waits for the next item. */
export interface AsyncQueue<T> {
  push(item: T): void;
  next(): Promise<T>;
}

export const createAsyncQueue = <T>(): AsyncQueue<T> => {
  const items: T[] = [];
  const consumers: ((item: T) => void)[] = [];
  return {
    push: (item) => {
      const consume = consumers.shift();
      if (consume) consume(item);
      else items.push(item);
    },
    next: () =>
      new Promise((resolve) => {
        if (items.length > 0) resolve(items.shift() as T);
        else consumers.push(resolve);
      }),
  };
};
