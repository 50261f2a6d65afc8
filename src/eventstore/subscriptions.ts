import type { EventBatch, SubscribeOptions } from "./event-store.ts";

/** The streams of a subscription. */
export interface Selection {
  readonly prefixes: readonly string[];
  readonly except: string | undefined;
}

export const isSelected = (stream: string, { prefixes, except }: Selection): boolean =>
  stream !== except && (prefixes.length === 0 || prefixes.some((prefix) => stream.startsWith(prefix)));

/** Follows the log until the signal is aborted. */
export type Follow = (
  options: SubscribeOptions,
  stopped: AbortSignal,
) => AsyncGenerator<EventBatch, void, undefined>;

/**
 * The open subscriptions of one event store. Each ends by its signal, when its consumer leaves it,
 * or by `close`.
 */
export const createSubscriptions = (follow: Follow) => {
  const open = new Set<() => void>();

  const start = (options: SubscribeOptions): AsyncIterator<EventBatch, void, undefined> => {
    const stop = new AbortController();
    const batches = follow(options, stop.signal);
    const end = (): void => {
      open.delete(end);
      options.signal?.removeEventListener("abort", end);
      stop.abort();
    };
    open.add(end);
    options.signal?.addEventListener("abort", end);
    if (options.signal?.aborted) end();
    return {
      next: async () => {
        try {
          const result = await batches.next();
          if (result.done) end();
          return result;
        } catch (error) {
          const isStopped = stop.signal.aborted;
          end();
          if (!isStopped) throw error;
          return { done: true, value: undefined };
        }
      },
      // `batches.return` alone would wait for a pending `next`.
      return: async () => {
        end();
        return await batches.return();
      },
    };
  };

  return {
    subscribe: (options: SubscribeOptions = {}): AsyncIterable<EventBatch> => ({
      [Symbol.asyncIterator]: () => start(options),
    }),
    close: (): void => {
      for (const end of open) end();
    },
  };
};

/**
 * Maps the batches of a subscription. Not a generator, because a generator's `return` waits for a
 * pending `next`.
 */
export const mapBatches = <T>(
  source: AsyncIterable<T>,
  map: (value: T) => T | Promise<T>,
): AsyncIterable<T> => ({
  [Symbol.asyncIterator]: () => {
    const iterator = source[Symbol.asyncIterator]();
    return {
      next: async () => {
        const { done, value } = await iterator.next();
        if (done) return { done, value };
        try {
          return { done: false, value: await map(value) };
        } catch (error) {
          // A consumer that gets an error does not call `return`.
          await iterator.return?.();
          throw error;
        }
      },
      return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
    };
  },
});
