import http from "node:http";
import https from "node:https";
import { type Clock, systemClock } from "../../async/clock.ts";
import type { UpstreamDeadlines, UpstreamRequest, UpstreamResponse } from "./messages.ts";
import { sendRequest } from "./send-request.ts";
import type { SsrfGuard } from "./ssrf-guard.ts";

export type { UpstreamDeadlines, UpstreamRequest, UpstreamResponse } from "./messages.ts";

export const upstreamDeadlines: UpstreamDeadlines = {
  connectMs: 5_000,
  firstByteMs: 30_000,
  totalMs: 300_000,
};

/**
 * One request and its answer, once: nothing is repeated, no redirection followed, no proxy asked. Abort destroys the
 * connection at any stage; promise or body then throw the signal's reason.
 * @throws {UpstreamFailed} @throws {EngineFailed} the guard forbids the address
 */
export type Exchange = (request: UpstreamRequest, signal: AbortSignal) => Promise<UpstreamResponse>;

export interface ExchangeOptions {
  readonly guard: SsrfGuard;
  readonly deadlines?: UpstreamDeadlines;
  readonly clock?: Clock;
}

/** Connections are kept for the next request, and never shared with an exchange of another guard. */
export const createExchange = (options: ExchangeOptions): Exchange => {
  const { guard, deadlines = upstreamDeadlines, clock = systemClock } = options;
  const agents = {
    "http:": new http.Agent({ ...connections, lookup: guard.lookup("http:") }),
    "https:": new https.Agent({ ...connections, lookup: guard.lookup("https:") }),
  };
  return async (request, signal) => {
    signal.throwIfAborted();
    guard.check(request.url);
    const agent = agents[request.url.protocol === "http:" ? "http:" : "https:"];
    return await sendRequest({ request, agent, deadlines, clock, signal });
  };
};

/** `maxSockets` is for each host; `timeout` ends the connections that nobody has used for so long. */
const connections = {
  keepAlive: true,
  maxSockets: 256,
  maxTotalSockets: 1024,
  maxFreeSockets: 16,
  timeout: 30_000,
} as const;
