import http, { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import https from "node:https";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { type Clock, systemClock } from "../../async/clock.ts";
import type { Claim } from "../../async/scheduler/claim.ts";
import { EngineFailed } from "../../domain/errors.ts";
import { followBody } from "./body-end.ts";
import { type Stage, UnprovenEnd, UpstreamFailed } from "./request-failed.ts";
import type { SsrfGuard } from "./ssrf-guard.ts";

export interface UpstreamRequest {
  readonly method: "GET" | "POST";
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Continues a sound that is being delivered: it is not refused. */
  readonly isContinuation?: boolean;
  /** The API keys in whose queues it waits. */
  readonly claim?: Claim | undefined;
  /** Estimated duration of its speech. */
  readonly seconds?: number;
  /** Called when the request has its slot, unless it is a continuation. If it throws, nothing is sent. */
  readonly beforeStart?: (() => Promise<void>) | undefined;
}

export interface UpstreamResponse {
  /** Never a redirect, which fails: its target is not checked. */
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /**
   * At the reader's pace; can be read once. Leaving it closes the connection. Throws {UpstreamFailed} if it is
   * incomplete, {UnprovenEnd} if that is unknown.
   */
  readonly body: AsyncIterable<Buffer>;
}

/**
 * Sends one request: no retry, no redirect, no proxy. An abort closes the connection at any stage; the promise or the
 * body throws the signal's reason. @throws {UpstreamFailed} {ForbiddenAddress}
 */
export type Exchange = (request: UpstreamRequest, signal: AbortSignal) => Promise<UpstreamResponse>;

/** In milliseconds. They run while the provider is waited for, never while a reader is idle. */
export const upstreamDeadlines = {
  /** Until a connection is open: DNS, TCP, TLS, and waiting for a free one. */
  connectMs: 5_000,
  /** Until the response headers, and between any two chunks of the body. */
  firstByteMs: 30_000,
  /** Total waiting time from the connection to the end of the body. */
  totalMs: 300_000,
};

export type UpstreamDeadlines = Readonly<typeof upstreamDeadlines>;

/** Connections are kept alive, and never shared between exchanges with different guards. */
export const createExchange = ({
  guard,
  deadlines = upstreamDeadlines,
  clock = systemClock,
}: {
  guard: SsrfGuard;
  deadlines?: UpstreamDeadlines;
  clock?: Clock;
}): Exchange => {
  const agents = {
    "http:": new http.Agent({ ...connections, lookup: guard.lookup("http:") }),
    "https:": new https.Agent({ ...connections, lookup: guard.lookup("https:") }),
  };
  return async (request, signal) => {
    signal.throwIfAborted();
    guard.check(request.url);
    const agent = agents[request.url.protocol === "http:" ? "http:" : "https:"];
    return await send(request, { agent, deadlines, clock, signal });
  };
};

/** `maxSockets` is per host; `timeout` closes idle connections. */
const connections = {
  keepAlive: true,
  maxSockets: 256,
  maxTotalSockets: 1024,
  maxFreeSockets: 16,
  timeout: 30_000,
} as const;

interface SendContext {
  readonly agent: http.Agent;
  readonly deadlines: UpstreamDeadlines;
  readonly clock: Clock;
  /** Valid until the end of the body. */
  readonly signal: AbortSignal;
}

/** Resolves with the response headers. */
const send = (request: UpstreamRequest, context: SendContext): Promise<UpstreamResponse> =>
  new Promise((resolve, reject) => {
    const { agent, deadlines, clock, signal } = context;
    const sent = start(request, agent);
    let stage: Stage = "connect";
    let response: IncomingMessage | undefined;
    // Rejects at once: Node does not report the destruction of a request that waits for a free connection.
    const giveUp = (error: unknown): void => {
      reject(error);
      (response ?? sent).destroy();
    };
    let stopTimer = clock.after(deadlines.connectMs, () => giveUp(tooLate(stage)));
    let asked = 0;
    onConnected(sent, () => {
      stage = "waiting";
      asked = clock.now();
      stopTimer();
      const timeoutMs = Math.min(deadlines.firstByteMs, deadlines.totalMs);
      stopTimer = clock.after(timeoutMs, () => giveUp(tooLate(stage)));
    });
    const leave = () => giveUp(signal.reason);
    signal.addEventListener("abort", leave, { once: true });
    sent.once("close", () => {
      stopTimer();
      signal.removeEventListener("abort", leave);
    });

    // Never removed: an error of a body that is not being read must not be uncaught.
    sent.on("error", (error) => {
      if (!response) giveUp(failureOf(error, isStale(sent, error) ? "connect" : stage));
      // Without Content-Length and chunks, Node treats a reset connection as the end of the body.
      else if (!response.complete) response.destroy(error);
    });
    sent.once("response", (head) => {
      stopTimer();
      response = head.on("error", () => undefined);
      const status = head.statusCode ?? 0;
      if (status >= 300 && status < 400) return giveUp(redirected(status));
      const waitedMs = clock.now() - asked;
      resolve({ status, headers: head.headers, body: pacedBody(head, context, waitedMs) });
    });
  });

const start = ({ url, method, headers, body }: UpstreamRequest, agent: http.Agent): ClientRequest => {
  const { request } = url.protocol === "https:" ? https : http;
  const length = body === undefined ? {} : { "Content-Length": String(Buffer.byteLength(body)) };
  return request(url, { method, agent, headers: { ...headers, ...length } }).end(body);
};

const onConnected = (sent: ClientRequest, connected: () => void): void => {
  sent.once("socket", (socket: Socket & Partial<TLSSocket>) => {
    if (sent.reusedSocket) return connected();
    socket.once(socket.encrypted ? "secureConnect" : "connect", connected);
  });
};

/**
 * The body at the reader's pace. Deadlines run only while a read is pending: an idle reader lets the provider wait.
 * `waitedMs`: the time spent so far of `totalMs`.
 */
async function* pacedBody(
  response: IncomingMessage,
  { deadlines, clock, signal }: SendContext,
  waitedMs: number,
): AsyncGenerator<Buffer, void> {
  const pieces: AsyncIterator<Buffer> = response[Symbol.asyncIterator]();
  const end = isDelimited(response) ? undefined : followBody();
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
      end?.add(piece.value);
      yield piece.value;
    }
    if (!response.complete) throw new Error("the body is incomplete");
    if (end && !end.isProven()) throw new UnprovenEnd();
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw error instanceof UpstreamFailed ? error : incomplete(error);
  } finally {
    if (!response.complete || !response.readableEnded) response.destroy();
  }
}

/** True if Content-Length or chunks tell where the body ends (RFC 9112, section 6.3), or if that does not matter. */
const isDelimited = ({ statusCode, headers }: IncomingMessage): boolean =>
  statusCode !== 200 ||
  headers["content-length"] !== undefined ||
  /\bchunked\s*$/i.test(headers["transfer-encoding"] ?? "");

/** The server had closed this keep-alive connection, so it has not read the request. */
const isStale = (sent: ClientRequest, error: NodeJS.ErrnoException): boolean =>
  sent.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");

const failureOf = (error: Error, stage: Stage): EngineFailed => {
  if (error instanceof EngineFailed) return error;
  const { code } = error as NodeJS.ErrnoException;
  return unanswered(stage, code === undefined ? "" : ` (${code})`, error);
};

const tooLate = (stage: Stage): UpstreamFailed => unanswered(stage, " in time");

const unanswered = (stage: Stage, how: string, cause?: Error): UpstreamFailed => {
  const what = stage === "connect" ? "cannot be reached" : "did not respond";
  return new UpstreamFailed(`The speech provider ${what}${how}.`, { stage, cause });
};

const redirected = (status: number): UpstreamFailed =>
  brokenAnswer(`The speech provider responded with a redirect (HTTP ${status}), which is not followed.`, {
    status,
  });

const tooSlow = (): UpstreamFailed => brokenAnswer("The speech provider stopped sending its response.");

const incomplete = (cause: unknown): UpstreamFailed =>
  brokenAnswer("The connection to the speech provider ended before its response was complete.", { cause });

const brokenAnswer = (message: string, details: { status?: number; cause?: unknown } = {}): UpstreamFailed =>
  new UpstreamFailed(message, { stage: "answer", ...details });

/** A path of an API under its base address, which may have a path of its own. */
export const endpoint = (base: string, path: `/${string}`): URL =>
  new URL(`${base.replace(/\/+$/, "")}${path}`);
