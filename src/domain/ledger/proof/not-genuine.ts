import type { ProvenEvent } from "../seals/proven-event.ts";

/**
 * The log, or an export of it, was changed. The message is one line that names the first event
 * concerned.
 */
export class NotGenuine extends Error {
  override readonly name = "NotGenuine";
}

export type EventPlace = Pick<ProvenEvent, "stream" | "revision" | "position" | "type">;

export const nameOf = ({ stream, revision, position, type }: EventPlace): string =>
  `${stream} revision ${revision} (${type}, position ${position})`;

/**
 * A log without any seal: nothing proves it, and nothing disproves it. An export always has one.
 */
export class NotSealed extends NotGenuine {
  constructor() {
    super("there is no seal");
  }
}

/**
 * The given keys do not lead to the keys of the last seals. These events may be genuine: the log
 * may have a key that the auditor lacks, or be another log.
 */
export class NotEndorsed extends NotGenuine {}
