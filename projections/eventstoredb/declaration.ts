import { isWellFormed } from "../../src/domain/event-shapes.ts";
import type { RecordedEvent } from "../../src/eventstore/event-store.ts";
import { hasPrefix, type Projection } from "../projection.ts";
import type { ServerEvent, Source } from "./language.ts";

/**
 * Declares the projection to the server that runs the script. There is no `outputState()`: the server shows states without
 * it, and with it would write every one of them to the log, an event for each event.
 */
export const declare = <S>(projection: Projection<S>, source: Source): void => {
  function partitionOf(told: ServerEvent): string | null {
    if (!hasPrefix(told.streamId, projection.prefixes) || !told.isJson) return null;
    const event = recorded(told);
    return isWellFormed(event) ? (projection.partition(event) ?? null) : null;
  }
  function initial(): S {
    return projection.initial();
  }
  function fold(state: S, told: ServerEvent): S {
    return projection.apply(state, recorded(told));
  }
  source.partitionBy(partitionOf).when({ $init: initial, $any: fold });
};

/** The event as folds know it; metadata plays no part in any. Servers do not tell when they stored it: `at` stands in. */
const recorded = ({ streamId, sequenceNumber, eventId, eventType, bodyRaw }: ServerEvent): RecordedEvent => {
  const data = parsed(bodyRaw);
  return {
    id: eventId,
    type: eventType,
    data,
    metadata: {},
    stream: streamId,
    revision: sequenceNumber,
    created: Date.parse((data as { at: string } | undefined)?.at ?? ""),
    get position(): never {
      throw new Error("the server tells its projections no positions");
    },
  };
};

/** Undefined for text that is not JSON, which no shape allows. */
const parsed = (text: ServerEvent["bodyRaw"]) => {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return undefined;
  }
};
