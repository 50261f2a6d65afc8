import type { EventBatch, EventStore, RecordedEvent } from "../../src/eventstore/event-store.ts";

/** A view of a shared log: stream names have the scope as prefix, and subscriptions start after the position by default. */
export const scopedStore = (store: EventStore, scope: string, beginning: number): EventStore => {
  const unscope = <E extends RecordedEvent>(event: E): E => ({
    ...event,
    stream: event.stream.slice(scope.length),
  });

  async function* unscopeAll(events: AsyncIterable<RecordedEvent>): AsyncGenerator<RecordedEvent> {
    for await (const event of events) yield unscope(event);
  }

  const unscoped = (batch: EventBatch): EventBatch => ({ ...batch, events: batch.events.map(unscope) });

  return {
    append: (stream, events, expected) =>
      store.append(scope + stream, events, expected).catch((error) => {
        if (error.stream === scope + stream) error.stream = stream;
        throw error;
      }),
    readStream: (stream, options) => unscopeAll(store.readStream(scope + stream, options)),
    eventAt: async (position) => {
      const event = await store.eventAt(position);
      return event?.stream.startsWith(scope) ? unscope(event) : undefined;
    },
    subscribe: ({ after = beginning, prefixes = [], signal } = {}) => {
      const scoped = prefixes.length === 0 ? [scope] : prefixes.map((prefix) => scope + prefix);
      const batches = store.subscribe({ after, prefixes: scoped, ...(signal && { signal }) });
      return {
        [Symbol.asyncIterator]: () => {
          const iterator = batches[Symbol.asyncIterator]();
          const passOn = ({ value, done }: IteratorResult<EventBatch>): IteratorResult<EventBatch> =>
            done ? { value, done } : { value: unscoped(value), done: false };
          return {
            next: async () => passOn(await iterator.next()),
            return: async () => (await iterator.return?.()) ?? { value: undefined, done: true },
          };
        },
      };
    },
    setRetention: (stream, retention) => store.setRetention(scope + stream, retention),
    ping: store.ping,
    close: store.close,
  };
};
