/**
 * The helper process waits for these two steps of its start, one after the other. Each deadline is
 * many times what the step takes on a busy machine.
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
