import { isWellFormed, malformedEvent } from "../domain/event-shapes.ts";
import type { EventStore, RecordedEvent } from "./event-store.ts";
import { mapBatches } from "./subscriptions.ts";

/**
 * Replaces malformed events, and events whose type belongs in another kind of stream, by events of
 * the type `MalformedEvent`, which folds ignore. A replacement keeps stream, revision, position and
 * id, so that the next append expects the right revision. Its data is the original type only.
 * `onMalformed` is called with each malformed event that is read, each time.
 */
export const validatedEventStore = (
  store: EventStore,
  { onMalformed = () => {} }: { onMalformed?: (event: RecordedEvent) => void } = {},
): EventStore => {
  const validated = (event: RecordedEvent): RecordedEvent => {
    if (isWellFormed(event)) return event;
    onMalformed(event);
    return replacementOf(event);
  };
  return {
    ...store,
    async *readStream(stream, options) {
      for await (const event of store.readStream(stream, options)) yield validated(event);
    },
    eventAt: async (position) => {
      const event = await store.eventAt(position);
      return event && validated(event);
    },
    subscribe: (options) =>
      mapBatches(store.subscribe(options), (batch) =>
        batch.events.every(isWellFormed) ? batch : { ...batch, events: batch.events.map(validated) },
      ),
  };
};

const replacementOf = (event: RecordedEvent): RecordedEvent => ({
  ...event,
  type: malformedEvent,
  data: { type: String(event.type) },
  metadata: {},
});
