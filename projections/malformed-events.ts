import { malformedEvent } from "../src/domain/event-shapes.ts";
import type { RecordedEvent } from "../src/eventstore/event-store.ts";
import type { Projection } from "./projection.ts";
import type { View } from "./runner/view.ts";

/** The place of an event that cannot be folded. */
export interface MalformedEvent {
  readonly stream: string;
  readonly revision: number;
  readonly position: number;
  /** The type that the log states. */
  readonly type: string;
}

export interface MalformedEvents {
  readonly count: number;
  readonly last: MalformedEvent | undefined;
}

const partitionName = "all";

/**
 * Counts the malformed events of these streams, which all other projections skip. One partition.
 */
export const malformedEventsIn = (prefixes: readonly string[]): Projection<MalformedEvents> => ({
  name: "malformed-events",
  version: 1,
  prefixes,
  partition: ({ type }) => (type === malformedEvent ? partitionName : undefined),
  initial: () => ({ count: 0, last: undefined }),
  apply: ({ count }, event) => ({ count: count + 1, last: placeOf(event) }),
});

const placeOf = ({ stream, revision, position, data }: RecordedEvent): MalformedEvent => ({
  stream,
  revision,
  position,
  type: (data as { type: string }).type,
});

export const readMalformedEvents = (view: View<MalformedEvents>): MalformedEvents =>
  view.get(partitionName) ?? { count: 0, last: undefined };
