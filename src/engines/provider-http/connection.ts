import type { ClientRequest, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import type { TLSSocket } from "node:tls";
import type { Time } from "../../async/time.ts";
import { EngineFailed } from "../../domain/errors.ts";
import { followBody } from "./body-end.ts";
import { type Stage, UnprovenEnd, UpstreamFailed } from "./request-failed.ts";

/**
 * Deadlines in milliseconds. They run while the provider is waited for, never while a reader is
 * idle.
 */
export const upstreamDeadlines = {
  /**
   * The time until a connection is open, with DNS, TCP, TLS, and the wait for a free connection.
   */
  connectMs: 5_000,
  /** The time until the response headers, and between any two chunks of the body. */
  firstByteMs: 30_000,
  /** Total waiting time from the connection to the end of the body. */
  totalMs: 300_000,
};

export type UpstreamDeadlines = Readonly<typeof upstreamDeadlines>;

export interface PaceOptions {
  readonly deadlines: UpstreamDeadlines;
  readonly time: Time;
  /** Valid until the end of the body. */
  readonly signal: AbortSignal;
}

/**
 * Waits for the headers of a response: `giveUp` is called when a deadline has passed, `leave` when
 * the signal aborts.
 */
export const awaitHeaders = (
  { deadlines, time, signal }: PaceOptions,
  giveUp: (error: unknown) => void,
  leave: () => void,
) => {
  let stage: Stage = "connect";
  let askedAt = 0;
  let stopTimer = time.after(deadlines.connectMs, () => giveUp(tooLate(stage)));
  signal.addEventListener("abort", leave, { once: true });
  return {
    stage: (): Stage => stage,
    /** Must be called with the request, before it has a connection. */
    follow: (sent: ClientRequest): void =>
      onConnected(sent, () => {
        stage = "waiting";
        askedAt = time.now();
        stopTimer();
        const timeoutMs = Math.min(deadlines.firstByteMs, deadlines.totalMs);
        stopTimer = time.after(timeoutMs, () => giveUp(tooLate(stage)));
      }),
    /** Returns the time that the headers took, when they have arrived. */
    arrived: (): number => {
      stopTimer();
      return time.now() - askedAt;
    },
    /** Must be called when the connection is closed. */
    closed: (): void => {
      stopTimer();
      signal.removeEventListener("abort", leave);
    },
  };
};

const onConnected = (sent: ClientRequest, connected: () => void): void => {
  sent.once("socket", (socket: Socket & Partial<TLSSocket>) => {
    if (sent.reusedSocket) return connected();
    socket.once(socket.encrypted ? "secureConnect" : "connect", connected);
  });
};

/**
 * Yields the chunks at the reader's pace. Deadlines run only while a read is pending, so a reader
 * may be idle. `waitedMs`: the time spent so far of `totalMs`.
 */
export async function* paced<Chunk>(
  source: Readable,
  waitedMs: number,
  { deadlines, time, signal }: PaceOptions,
): AsyncGenerator<Chunk, void> {
  const chunks: AsyncIterator<Chunk> = source[Symbol.asyncIterator]();
  let waited = waitedMs;
  try {
    for (;;) {
      signal.throwIfAborted();
      const timeoutMs = Math.max(0, Math.min(deadlines.firstByteMs, deadlines.totalMs - waited));
      const asked = time.now();
      const stopTimer = time.after(timeoutMs, () => source.destroy(tooSlow()));
      const chunk = await chunks.next().finally(stopTimer);
      waited += time.now() - asked;
      if (chunk.done) return;
      yield chunk.value;
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw error instanceof UpstreamFailed ? error : incomplete(error);
  }
}

/** Yields the body at the reader's pace. `waitedMs`: the time spent so far of `totalMs`. */
export async function* pacedBody(
  response: IncomingMessage,
  { deadlines, time, signal }: PaceOptions,
  waitedMs: number,
): AsyncGenerator<Buffer, void> {
  const end = isDelimited(response) ? undefined : followBody();
  try {
    for await (const piece of paced<Buffer>(response, waitedMs, { deadlines, time, signal })) {
      end?.add(piece);
      yield piece;
    }
    signal.throwIfAborted();
    if (!response.complete) throw incomplete(new Error("the body is incomplete"));
    if (end && !end.isProven()) throw new UnprovenEnd();
  } finally {
    if (!response.complete || !response.readableEnded) response.destroy();
  }
}

/**
 * True if Content-Length or chunks tell where the body ends (RFC 9112, section 6.3), or if that
 * does not matter.
 */
const isDelimited = ({ statusCode, headers }: IncomingMessage): boolean =>
  statusCode !== 200 ||
  headers["content-length"] !== undefined ||
  /\bchunked\s*$/i.test(headers["transfer-encoding"] ?? "");

export const failureOf = (error: Error, stage: Stage): EngineFailed => {
  if (error instanceof EngineFailed) return error;
  const { code } = error as NodeJS.ErrnoException;
  return unanswered(stage, code === undefined ? "" : ` (${code})`, error);
};

const tooLate = (stage: Stage): UpstreamFailed => unanswered(stage, " in time");

const unanswered = (stage: Stage, how: string, cause?: Error): UpstreamFailed => {
  const what = stage === "connect" ? "cannot be reached" : "did not respond";
  return new UpstreamFailed(`The speech provider ${what}${how}.`, { stage, cause });
};

export const redirected = (status: number): UpstreamFailed =>
  brokenResponse(`The speech provider responded with a redirect (HTTP ${status}), which is not followed.`, {
    status,
  });

const tooSlow = (): UpstreamFailed => brokenResponse("The speech provider stopped sending its response.");

const incomplete = (cause: unknown): UpstreamFailed =>
  brokenResponse("The connection to the speech provider ended before its response was complete.", { cause });

const brokenResponse = (
  message: string,
  details: { status?: number; cause?: unknown } = {},
): UpstreamFailed => new UpstreamFailed(message, { stage: "answer", ...details });
