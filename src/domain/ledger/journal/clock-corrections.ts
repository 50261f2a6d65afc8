import { count, type EventOf, listOf, object, text, utcTime } from "../../shape.ts";

/** Revisions of a journal, both inclusive. */
const journalRange = object({ journal: text, from: count, through: count });

/**
 * Operators state that a clock is right. The events are in the stream `log`, which every release
 * seals, and whose readers ignore types that they do not know. If the events had a stream of their
 * own, the seals of different releases would disagree.
 */
export const clockShapes = {
  /** A machine's clock was right when it showed the time `accepted`. */
  ClockAccepted: { accepted: utcTime, at: utcTime },
  /**
   * The clock was right at `at`. Earlier events of the log with a later time, up to `until`, were
   * recorded while it was wrong; the journal events among them are listed. They stay in the months
   * under which they were recorded.
   */
  ClockCorrected: { until: utcTime, journals: listOf(journalRange), at: utcTime },
};
export type ClockEvent = EventOf<typeof clockShapes>;
export type ClockCorrected = Extract<ClockEvent, { type: "ClockCorrected" }>["data"];
