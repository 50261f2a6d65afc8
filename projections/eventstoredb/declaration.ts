import type { RecordedEvent } from "../../src/eventstore/event-store.ts";
import { type Projection, startsWithOne } from "../projection.ts";
import type { Source, ToldEvent } from "./language.ts";

/**
 * Declares the projection to the server that runs the script. There is no `outputState()`: the server shows states without
 * it, and with it would write every one of them to the log, an event for each event.
 */
export const declare = <S>(projection: Projection<S>, source: Source): void => {
  function partitionOf(told: ToldEvent): string | null {
    // The stream comes first: a look at `data` of another application's event may fault the projection for good.
    if (!startsWithOne(told.streamId, projection.prefixes) || !told.isJson || !told.data) return null;
    return projection.partition(recorded(told)) ?? null;
  }
  function initial(): S {
    return projection.initial();
  }
  function fold(state: S, told: ToldEvent): S {
    return projection.apply(state, recorded(told));
  }
  source.partitionBy(partitionOf).when({ $init: initial, $any: fold });
};

/** The event as folds know it; metadata plays no part in any. */
const recorded = ({
  streamId,
  sequenceNumber,
  eventId,
  eventType,
  data,
  created,
}: ToldEvent): RecordedEvent => ({
  id: eventId,
  type: eventType,
  data: data ?? {},
  metadata: {},
  stream: streamId,
  revision: sequenceNumber,
  created: Date.parse(created),
  get position(): never {
    throw new Error("the server tells its projections no positions");
  },
});
