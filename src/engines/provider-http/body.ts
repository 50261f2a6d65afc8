import type { IncomingMessage } from "node:http";
import type { Clock } from "../../async/clock.ts";
import type { UpstreamDeadlines } from "./messages.ts";
import { UpstreamFailed } from "./request-failed.ts";

export interface BodyOptions {
  readonly deadlines: UpstreamDeadlines;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Time spent so far of `totalMs`. */
  readonly waitedMs: number;
}

/** The body at the reader's pace. Deadlines run only while a read is pending: an idle reader lets the provider wait. */
export async function* readResponse(
  response: IncomingMessage,
  { deadlines, clock, signal, waitedMs }: BodyOptions,
): AsyncGenerator<Buffer, void> {
  const pieces: AsyncIterator<Buffer> = response[Symbol.asyncIterator]();
  let waited = waitedMs;
  try {
    for (;;) {
      signal.throwIfAborted();
      const timeoutMs = Math.max(0, Math.min(deadlines.firstByteMs, deadlines.totalMs - waited));
      const asked = clock.now();
      const stopTimer = clock.after(timeoutMs, () => response.destroy(tooSlow()));
      const piece = await pieces.next().finally(stopTimer);
      waited += clock.now() - asked;
      if (piece.done) break;
      yield piece.value;
    }
    if (!response.complete) throw new Error("the body is incomplete");
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw error instanceof UpstreamFailed ? error : incomplete(error);
  } finally {
    if (!response.complete || !response.readableEnded) response.destroy();
  }
}

const tooSlow = (): UpstreamFailed =>
  new UpstreamFailed("The speech provider stopped sending its response.", {
    stage: "answer",
  });

const incomplete = (cause: unknown): UpstreamFailed =>
  new UpstreamFailed("The connection to the speech provider ended before its response was complete.", {
    stage: "answer",
    cause,
  });
