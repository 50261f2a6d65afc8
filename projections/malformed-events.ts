import { malformedEvent } from "../src/domain/event-shapes.ts";
import type { RecordedEvent } from "../src/eventstore/event-store.ts";
import type { Projection } from "./projection.ts";
import type { View } from "./runner/runner.ts";

/** Where an event is that could not be folded. */
export interface MalformedEvent {
  readonly stream: string;
  readonly revision: number;
  readonly position: number;
  /** The type that it has in the log. */
  readonly type: string;
}

export interface MalformedEvents {
  readonly count: number;
  readonly last: MalformedEvent | undefined;
}

const everywhere = "all";

/** The malformed events in the streams that begin so: those that all other projections skip. One partition. */
export const malformedEventsIn = (prefixes: readonly string[]): Projection<MalformedEvents> => ({
  name: "malformed-events",
  version: 1,
  prefixes,
  partition: ({ type }) => (type === malformedEvent ? everywhere : undefined),
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
  view.get(everywhere) ?? { count: 0, last: undefined };
