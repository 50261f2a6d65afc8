import type { Agent, ClientRequest, IncomingHttpHeaders, IncomingMessage } from "node:http";
import https from "node:https";
import type { Waiter } from "../../async/scheduler/waiter.ts";
import { systemTime, type Time } from "../../async/time.ts";
import { nodeHttp } from "../../node-http.ts";
import {
  awaitHeaders,
  failureOf,
  type PaceOptions,
  pacedBody,
  redirected,
  type UpstreamDeadlines,
  upstreamDeadlines,
} from "./connection.ts";
import type { SsrfGuard } from "./ssrf-guard.ts";
import { openWebSocket, type SocketMessages } from "./web-socket.ts";

export interface UpstreamRequest {
  readonly method: "GET" | "POST";
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** True if the caller checks the targets of redirects: they are returned. */
  readonly returnsRedirects?: boolean;
  /**
   * If given, a WebSocket is opened, which sends these messages. The response has the status 101
   * and a chunk for each message received.
   */
  readonly socket?: SocketMessages;
  /** True if the request continues audio that is being delivered. It is then not refused. */
  readonly isContinuation?: boolean;
  /** The API keys in whose queues it waits. */
  readonly waiter?: Waiter | undefined;
  /** Estimated duration of its speech. */
  readonly seconds?: number;
  /**
   * Called when the request has its slot, unless it is a continuation. If it throws, nothing is
   * sent.
   */
  readonly beforeStart?: (() => Promise<void>) | undefined;
}

export interface UpstreamResponse {
  /**
   * It is never the status of a redirect, unless the request returns redirects: a redirect fails,
   * because its target is not checked.
   */
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /**
   * Arrives at the reader's pace and can be read once. A reader that stops early closes the
   * connection. Throws {UpstreamFailed} if it is incomplete, {UnprovenEnd} if it may be incomplete.
   */
  readonly body: AsyncIterable<Buffer>;
}

/**
 * Sends one request: no retry, no redirect, no proxy. An abort closes the connection at any stage;
 * the promise or the body throws the signal's reason.
 * @throws {UpstreamFailed}
 * @throws {ForbiddenAddress}
 */
export type Exchange = (request: UpstreamRequest, signal: AbortSignal) => Promise<UpstreamResponse>;

/** Connections are kept alive, and never shared between exchanges with different guards. */
export const createExchange = ({
  guard,
  deadlines = upstreamDeadlines,
  time = systemTime,
}: {
  guard: SsrfGuard;
  deadlines?: UpstreamDeadlines;
  time?: Time;
}): Exchange => {
  const agents = {
    "http:": new nodeHttp.Agent({ ...connections, lookup: guard.lookup("http:") }),
    "https:": new https.Agent({ ...connections, lookup: guard.lookup("https:") }),
  };
  return async (request, signal) => {
    signal.throwIfAborted();
    guard.check(request.url);
    const protocol = request.url.protocol === "http:" ? "http:" : "https:";
    const context = { agent: agents[protocol], deadlines, time, signal };
    if (!request.socket) return await send(request, context);
    return await openWebSocket(request, request.socket, { ...context, lookup: guard.lookup(protocol) });
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

interface SendContext extends PaceOptions {
  readonly agent: Agent;
}

/** Resolves with the response headers. */
const send = (request: UpstreamRequest, context: SendContext): Promise<UpstreamResponse> =>
  new Promise((resolve, reject) => {
    const { agent, signal } = context;
    const sent = start(request, agent);
    let response: IncomingMessage | undefined;
    // Rejects at once: Node does not report the destruction of a request that waits for a free
    // connection.
    const giveUp = (error: unknown): void => {
      reject(error);
      (response ?? sent).destroy();
    };
    const headers = awaitHeaders(context, giveUp, () => giveUp(signal.reason));
    headers.follow(sent);
    sent.once("close", headers.closed);

    // This listener is never removed: an error of a body that is not being read must not be
    // uncaught.
    sent.on("error", (error) => {
      if (!response) giveUp(failureOf(error, isStale(sent, error) ? "connect" : headers.stage()));
      // Without Content-Length and chunks, Node treats a reset connection as the end of the body.
      else if (!response.complete) response.destroy(error);
    });
    sent.once("response", (head) => {
      const waitedMs = headers.arrived();
      response = head.on("error", () => undefined);
      const status = head.statusCode ?? 0;
      if (status >= 300 && status < 400 && !request.returnsRedirects) return giveUp(redirected(status));
      resolve({ status, headers: head.headers, body: pacedBody(head, context, waitedMs) });
    });
  });

const start = ({ url, method, headers, body }: UpstreamRequest, agent: Agent): ClientRequest => {
  const { request } = url.protocol === "https:" ? https : nodeHttp;
  const length = body === undefined ? {} : { "Content-Length": String(Buffer.byteLength(body)) };
  return request(url, { method, agent, headers: { ...headers, ...length } }).end(body);
};

/** The server had closed this keep-alive connection, so it has not read the request. */
const isStale = (sent: ClientRequest, error: NodeJS.ErrnoException): boolean =>
  sent.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");

/** A path of an API under its base address, which may have a path of its own. */
export const endpoint = (base: string, path: `/${string}`): URL =>
  new URL(`${base.replace(/\/+$/, "")}${path}`);
