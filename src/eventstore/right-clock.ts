import type { EventStore, NewEvent } from "./event-store.ts";

/**
 * Refuses appends while this machine's clock is wrong, except events with the log's last time. A
 * repeat of an append is never refused: its events may be stored already.
 */
export const withRightClock = (
  store: EventStore,
  /** @throws {Unavailable} */
  requireRightClock: () => void,
): EventStore => {
  const sent = new WeakSet<readonly NewEvent[]>();
  return {
    ...store,
    append: async (stream, events, expected) => {
      if (!sent.has(events) && !events.every(({ metadata }) => metadata.clock)) requireRightClock();
      sent.add(events);
      return await store.append(stream, events, expected);
    },
  };
};
