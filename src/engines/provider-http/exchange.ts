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
 * Sends one request: no retry, no redirect, no proxy. An abort closes the connection at any stage; the promise or the
 * body throws the signal's reason. @throws {UpstreamFailed} {ForbiddenAddress}
 */
export type Exchange = (request: UpstreamRequest, signal: AbortSignal) => Promise<UpstreamResponse>;

export interface ExchangeOptions {
  readonly guard: SsrfGuard;
  readonly deadlines?: UpstreamDeadlines;
  readonly clock?: Clock;
}

/** Connections are kept alive, and never shared between exchanges with different guards. */
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

/** `maxSockets` is per host; `timeout` closes idle connections. */
const connections = {
  keepAlive: true,
  maxSockets: 256,
  maxTotalSockets: 1024,
  maxFreeSockets: 16,
  timeout: 30_000,
} as const;
