/**
 * Maps the batches of a subscription. Not a generator, because a generator's `return` waits for a
 * pending `next`.
 */
export const mapBatches = <T>(source: AsyncIterable<T>, map: (value: T) => T): AsyncIterable<T> => ({
  [Symbol.asyncIterator]: () => {
    const iterator = source[Symbol.asyncIterator]();
    return {
      next: async () => {
        const { done, value } = await iterator.next();
        return done ? { done, value } : { done: false, value: map(value) };
      },
      return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
    };
  },
});
