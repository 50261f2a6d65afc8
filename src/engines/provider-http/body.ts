import type { IncomingMessage } from "node:http";
import type { Clock } from "../../async/clock.ts";
import type { UpstreamDeadlines } from "./messages.ts";
import { UpstreamFailed } from "./request-failed.ts";

export interface BodyOptions {
  readonly deadlines: UpstreamDeadlines;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Already spent of `totalMs`. */
  readonly waitedMs: number;
}

/**
 * The body as it is pulled. The deadlines run while a piece is asked for and has not come: a reader that rests leaves
 * the upstream waiting on its socket, and no clock of ours ends that.
 */
export async function* readResponse(
  response: IncomingMessage,
  { deadlines, clock, signal, waitedMs }: BodyOptions,
): AsyncGenerator<Buffer, void> {
  const pieces: AsyncIterator<Buffer> = response[Symbol.asyncIterator]();
  let waited = waitedMs;
  try {
    for (;;) {
      signal.throwIfAborted();
      const patience = Math.max(0, Math.min(deadlines.firstByteMs, deadlines.totalMs - waited));
      const asked = clock.now();
      const stopTimer = clock.after(patience, () => response.destroy(tooSlow()));
      const piece = await pieces.next().finally(stopTimer);
      waited += clock.now() - asked;
      if (piece.done) break;
      yield piece.value;
    }
    if (!response.complete) throw new Error("the body ended before its end");
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw error instanceof UpstreamFailed ? error : brokenOff(error);
  } finally {
    if (!response.complete || !response.readableEnded) response.destroy();
  }
}

const tooSlow = (): UpstreamFailed =>
  new UpstreamFailed("The speech provider was silent for too long in the midst of its answer.", {
    stage: "answer",
  });

const brokenOff = (cause: unknown): UpstreamFailed =>
  new UpstreamFailed("The speech provider broke off its answer.", { stage: "answer", cause });
