/**
 * A start of the helper process waits for these, one after the other. They are many times what each
 * takes on a busy machine.
 */
const versionsMs = 15_000;
const codecProbeMs = 15_000;

/** The deadlines in milliseconds. */
export const startDeadlines = {
  /** Until each tool has reported its version. */
  versionsMs,
  /** Until the libraries of encoders have encoded audio. */
  codecProbeMs,
  /**
   * The deadline of the whole start: also for Node, and the first process of espeak-ng's library.
   */
  totalMs: versionsMs + codecProbeMs + 15_000,
};
