import { NotCanonical } from "../canonical.ts";
import type { ProvenEvent } from "../proven-event.ts";

/** The log, or an export of it, was changed. The message is one line that names the first event concerned. */
export class NotGenuine extends Error {
  override readonly name = "NotGenuine";
}

type EventPlace = Pick<ProvenEvent, "stream" | "revision" | "position" | "type">;

export const nameOf = ({ stream, revision, position, type }: EventPlace): string =>
  `${stream} revision ${revision} (${type}, position ${position})`;

/** @throws {NotGenuine} unless the event passes */
export const requireForm = <E extends EventPlace>(event: E, isWellFormed: (event: E) => boolean): void => {
  if (isWellFormed(event)) return;
  throw new NotGenuine(`${nameOf(event)} is malformed, or belongs to another kind of stream`);
};

/** Runs checks of an event. @throws {NotGenuine} what the checks throw, and for an event without a canonical form */
export const runChecks = (event: EventPlace, checks: () => void): void => {
  try {
    checks();
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error;
    throw new NotGenuine(`${nameOf(event)} was changed: ${error.message}`);
  }
};

/** A log without any seal: nothing proves it, and nothing disproves it. An export always has one. */
export class NotSealed extends NotGenuine {
  constructor() {
    super("there is no seal");
  }
}
