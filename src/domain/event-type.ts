import { isWellFormed, type StoredEvent } from "./event-shapes.ts";

interface TypedEvent {
  readonly type: string;
  readonly data: object;
}

/** True if the event is a well-formed one of these types. */
export const isOfType = <E extends TypedEvent, R extends TypedEvent & StoredEvent>(
  event: R,
  types: readonly E["type"][],
): event is R & E => types.includes(event.type) && isWellFormed(event);
