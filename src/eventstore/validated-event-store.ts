import { isWellFormed, malformedEvent } from "../domain/event-shapes.ts";
import type { EventStore, RecordedEvent } from "./event-store.ts";

/**
 * The same store, in which every event that is read can be folded. A malformed one is replaced by an event of the type
 * `MalformedEvent` with the same stream, revision, position and id, so that folds skip it, and the next append
 * expects the right revision. Its data is only the type that it had. `onMalformed` is called for each that a subscription delivers.
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

/** Not a generator: one would hold back `return` for as long as a `next` waits. */
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
