/**
 * A start of the helper process waits for these, one after the other. They are many times what each
 * takes on a busy machine.
 */
const versionsMs = 15_000;
const lameProbeMs = 15_000;

/** The deadlines in milliseconds. */
export const startDeadlines = {
  /** Until each tool has reported its version. */
  versionsMs,
  /** Until LAME's library has encoded audio. */
  lameProbeMs,
  /**
   * The deadline of the whole start: also for Node, the first process of espeak-ng's library, and
   * an encoding by ffmpeg.
   */
  totalMs: versionsMs + lameProbeMs + 15_000,
};
