import type { EventStore } from "../../src/eventstore/event-store.ts";

/** The streams of all events after this position, in order. */
export const streamsAfter = async (store: EventStore, position: number): Promise<string[]> => {
  const streams: string[] = [];
  for await (const { events, caughtUp } of store.subscribe({ fromExclusive: position })) {
    streams.push(...events.map(({ stream }) => stream));
    if (caughtUp) break;
  }
  return streams;
};
