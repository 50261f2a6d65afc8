import { isWellFormed, malformedEvent } from "../domain/event-shapes.ts";
import type { EventStore, RecordedEvent } from "./event-store.ts";

/**
 * Replaces malformed events by events of the type `MalformedEvent`, which folds ignore. They keep their stream, revision,
 * position and id, so that the next append expects the right revision; their data is the original type only. Calls
 * `onMalformed` for those that a subscription delivers.
 */
export const validatedEventStore = (
  store: EventStore,
  { onMalformed = () => {} }: { onMalformed?: (event: RecordedEvent) => void } = {},
): EventStore => ({
  ...store,
  async *readStream(stream, options) {
    for await (const event of store.readStream(stream, options)) yield validated(event);
  },
  eventAt: async (position) => {
    const event = await store.eventAt(position);
    return event && validated(event);
  },
  subscribe: (options) =>
    mapped(store.subscribe(options), (batch) => {
      const malformed = batch.events.filter((event) => !isWellFormed(event));
      malformed.forEach(onMalformed);
      return malformed.length === 0 ? batch : { ...batch, events: batch.events.map(validated) };
    }),
});

/** Not a generator, because a generator's `return` waits for a pending `next`. */
const mapped = <T>(source: AsyncIterable<T>, map: (value: T) => T): AsyncIterable<T> => ({
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

const validated = (event: RecordedEvent): RecordedEvent =>
  isWellFormed(event) ? event : { ...event, type: malformedEvent, data: { type: event.type } };
