import type { EventStore, RecordedEvent } from "../../src/eventstore/event-store.ts";
import { readBatches } from "../../src/eventstore/follow-events.ts";
import type { Projection } from "../projection.ts";
import type { View } from "./view.ts";

/** The streams to read a view from: by name, or all that the projection folds. */
export type StreamsRead = readonly string[] | "all";

/**
 * Folds a projection's current view from these streams only.
 * @throws {EventStoreUnavailable}
 */
export const readView = async <S>(
  store: EventStore,
  projection: Projection<S>,
  streams: StreamsRead,
): Promise<View<S>> => {
  const states = new Map<string, S>();
  const fold = (event: RecordedEvent): void => {
    const partition = projection.partition(event);
    if (partition === undefined) return;
    states.set(partition, projection.apply(states.get(partition) ?? projection.initial(), event));
  };
  if (streams === "all") {
    const { prefixes } = projection;
    for await (const { events } of readBatches(store, { prefixes })) events.forEach(fold);
  } else for (const stream of streams) for await (const event of store.readStream(stream)) fold(event);
  return states;
};

/** Replaces a view that was not read: using it is a programming error. */
export const unreadView = <S>({ name }: Projection<S>): View<S> => {
  const refuse = (): never => {
    throw new Error(`the view ${name} was not read`);
  };
  return { get: refuse, entries: refuse, size: 0 };
};
