import { isWellFormed } from "../../event-shapes.ts";
import { anyObject } from "../../shape.ts";
import { NotCanonical } from "../journal/canonical.ts";
import { type ProvenEvent, withheldMember } from "../seals/proven-event.ts";
import { type EventPlace, NotGenuine, nameOf } from "./not-genuine.ts";

/** @throws {NotGenuine} unless the event passes */
export const requireForm = <E extends EventPlace>(event: E, isWellFormed: (event: E) => boolean): void => {
  if (isWellFormed(event)) return;
  throw new NotGenuine(`${nameOf(event)} is malformed, or belongs to another kind of stream`);
};

/**
 * Runs checks of an event.
 * @throws {NotGenuine} what the checks throw, and for an event without a canonical form
 */
export const runChecks = (event: EventPlace, checks: () => void): void => {
  try {
    checks();
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error;
    throw new NotGenuine(`${nameOf(event)} was changed: ${error.message}`);
  }
};

/** True if the event can be that of a well-formed one. */
export const isWellFormedProof = (event: ProvenEvent): boolean => {
  const member = withheldMember(event.type);
  if (member === undefined || !anyObject(event.data)) return isWellFormed(event);
  const value = event.data[member];
  const isCommitted = anyObject(value) && typeof value.sha256 === "string";
  return isCommitted && isWellFormed({ ...event, data: { ...event.data, [member]: "" } });
};
