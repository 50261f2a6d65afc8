import http, { type Agent, type ClientRequest, type IncomingMessage } from "node:http";
import https from "node:https";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Clock } from "../../async/clock.ts";
import { EngineFailed } from "../../domain/errors.ts";
import { readResponse } from "./body.ts";
import type { UpstreamDeadlines, UpstreamRequest, UpstreamResponse } from "./messages.ts";
import { type Stage, UpstreamFailed } from "./request-failed.ts";

export interface SendOptions {
  readonly request: UpstreamRequest;
  readonly agent: Agent;
  readonly deadlines: UpstreamDeadlines;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Resolves with the response headers. The signal is valid until the end of the body. */
export const sendRequest = ({
  request,
  agent,
  deadlines,
  clock,
  signal,
}: SendOptions): Promise<UpstreamResponse> =>
  new Promise((resolve, reject) => {
    const sent = send(request, agent);
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
      if (response) breakOff(response, error);
      else giveUp(failureOf(error, isStale(sent, error) ? "connect" : stage));
    });
    sent.once("response", (head) => {
      stopTimer();
      response = head.on("error", () => undefined);
      const status = head.statusCode ?? 0;
      if (status >= 300 && status < 400) return giveUp(redirected(status));
      const waitedMs = clock.now() - asked;
      resolve({
        status,
        headers: head.headers,
        body: readResponse(head, { deadlines, clock, signal, waitedMs }),
      });
    });
  });

const send = ({ url, method, headers, body }: UpstreamRequest, agent: Agent): ClientRequest => {
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

/** Without Content-Length and chunks, Node treats a reset connection as the end of the body. */
const breakOff = (response: IncomingMessage, error: Error): void => {
  if (!response.complete) response.destroy(error);
};

/** The server had closed this keep-alive connection, so it has not read the request. */
const isStale = (sent: ClientRequest, error: NodeJS.ErrnoException): boolean =>
  sent.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");

const failureOf = (error: Error, stage: Stage): EngineFailed => {
  if (error instanceof EngineFailed) return error;
  const { code } = error as NodeJS.ErrnoException;
  const why = code === undefined ? "" : ` (${code})`;
  const message =
    stage === "connect" ? "The speech provider cannot be reached" : "The speech provider did not respond";
  return new UpstreamFailed(`${message}${why}.`, { stage, cause: error });
};

const tooLate = (stage: Stage): UpstreamFailed => {
  const what = stage === "connect" ? "cannot be reached" : "did not respond";
  return new UpstreamFailed(`The speech provider ${what} in time.`, { stage });
};

const redirected = (status: number): UpstreamFailed =>
  new UpstreamFailed(
    `The speech provider responded with a redirect (HTTP ${status}), which is not followed.`,
    {
      stage: "answer",
      status,
    },
  );
