import { createShapeCheck } from "../../src/domain/shape.ts";
import type { RecordedEvent } from "../../src/eventstore/event-store.ts";
import type { StreamNames } from "../../src/eventstore/stream-prefix.ts";
import { hasPrefix, type Projection } from "../projection.ts";

/**
 * The part of EventStoreDB's projection language that is used here. Handlers must be declared with
 * `function`: some releases of the server silently ignore arrow functions.
 */
export interface Source {
  /** Events without a partition (null) are skipped. */
  partitionBy(partitionOf: (event: ServerEvent) => string | null): {
    when<S>(handlers: { readonly $init: () => S; readonly $any: (state: S, event: ServerEvent) => S }): void;
  };
}

export interface ServerEvent {
  readonly streamId: string;
  readonly sequenceNumber: number;
  readonly eventId: string;
  readonly eventType: string;
  readonly isJson: boolean;
  /**
   * The event's data as text. Never read the server's `data`: it faults the projection permanently
   * if the text is not JSON, is not an object, or contains U+2028 or U+2029 unescaped.
   */
  readonly bodyRaw?: string | null;
}

/**
 * Declares the projection of one installation's streams to the server that runs the script. Events
 * that do not have their type's shape are skipped. The script does not call `outputState()`:
 * servers show states without it, and with it they would append an event for each event that they
 * fold.
 */
export const declare = <S>(
  projection: Projection<S>,
  shapes: Parameters<typeof createShapeCheck>[0],
  source: Source,
  { fromStored }: StreamNames,
): void => {
  const isWellFormed = createShapeCheck(shapes);
  function partitionOf(event: ServerEvent): string | null {
    const stream = fromStored(event.streamId);
    if (stream === undefined || !hasPrefix(stream, projection.prefixes) || !event.isJson) return null;
    const recorded = toRecordedEvent(event, stream);
    return isWellFormed(recorded) ? (projection.partition(recorded) ?? null) : null;
  }
  function initial(): S {
    return projection.initial();
  }
  function fold(state: S, event: ServerEvent): S {
    return projection.apply(state, toRecordedEvent(event, fromStored(event.streamId) ?? ""));
  }
  source.partitionBy(partitionOf).when({ $init: initial, $any: fold });
};

/**
 * Folds never read metadata. The server does not give scripts the time of an append: the event's
 * own `at` replaces it.
 */
const toRecordedEvent = (event: ServerEvent, stream: string): RecordedEvent => {
  const data = parseJson(event.bodyRaw);
  return {
    id: event.eventId,
    type: event.eventType,
    data,
    metadata: {},
    stream,
    revision: event.sequenceNumber,
    created: Date.parse((data as { at: string } | undefined)?.at ?? ""),
    get position(): never {
      throw new Error("the server does not give positions to its projections");
    },
  };
};

/** Returns undefined for text that is not JSON, which no shape allows. */
const parseJson = (text: ServerEvent["bodyRaw"]) => {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return undefined;
  }
};
