import type { Projection } from "../../projections/projection.ts";
import type { View } from "../../projections/runner/view.ts";
import type { RecordedEvent } from "../../src/eventstore/event-store.ts";

export type LogEvent = Pick<RecordedEvent, "stream" | "type" | "data">;

/** Recorded events, as a log would deliver them. */
export const recordEvents = (events: readonly LogEvent[]): RecordedEvent[] =>
  events.map((event, position) => ({
    ...event,
    id: `00000000-0000-4000-8000-${String(position).padStart(12, "0")}`,
    metadata: {},
    revision: events.slice(0, position).filter(({ stream }) => stream === event.stream).length,
    position,
    created: 0,
  }));

/** Folds the events, from the initial states or from an older view's JSON snapshot. */
export const viewOf = <S>(
  projection: Projection<S>,
  events: readonly RecordedEvent[],
  before?: View<S>,
): View<S> => {
  const states = new Map<string, S>(JSON.parse(JSON.stringify([...(before?.entries() ?? [])])));
  for (const event of events) {
    const partition = projection.partition(event);
    if (partition === undefined) continue;
    states.set(partition, projection.apply(states.get(partition) ?? projection.initial(), event));
  }
  return states;
};
