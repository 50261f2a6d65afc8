import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "pino";
import type { Audio, Synthesis } from "../../../application/synthesis/delivery.ts";
import type { SynthesisPlan } from "../../../application/synthesis/planner.ts";
import type { UnreadAudio } from "../../../limits/unread-audio.ts";
import { clientClosedRequest, onResponseEnd } from "../../kernel/middleware.ts";
import { type Caller, callerIn, type FromMemory, type RequestState } from "../../kernel/request-state.ts";
import type { PreparedPlans } from "./prepared-plans.ts";
import type { SynthesisPresenter } from "./presenter.ts";

interface FromMemoryOptions {
  readonly synthesis: Pick<
    Synthesis,
    "isCurrent" | "usesSharedPlans" | "fromMemory" | "recordWhole" | "callerLeft"
  >;
  readonly presenter: Pick<SynthesisPresenter, "headersFromMemory">;
  readonly prepared: PreparedPlans;
  readonly unread: Pick<UnreadAudio, "hold">;
  readonly log: Logger;
}

/**
 * Responds to a plain GET whose URL was planned before and whose audio is in memory, for websites
 * without lexicons. It uses callbacks and prebuilt headers, because promises and middleware would
 * cost more than the rest of the request.
 */
export const createFromMemory = (options: FromMemoryOptions): FromMemory => {
  const { synthesis, prepared, presenter, unread, log } = options;

  const currentPlan = (url: string, websiteId: string): SynthesisPlan | undefined => {
    const plan = prepared.of(url);
    if (!plan || plan.muted) return undefined;
    try {
      return synthesis.isCurrent(plan) && synthesis.usesSharedPlans(websiteId) ? plan : undefined;
    } catch {
      return undefined; // A view is out of date, which the operation refuses.
    }
  };

  return (req, res, state, refuse) => {
    if (isSpecial(req)) return false;
    const caller = callerIn(state);
    const { principal } = caller;
    const plan = currentPlan(req.url ?? "", principal.websiteId);
    const audio = plan && synthesis.fromMemory(plan);
    if (!audio) return false;
    const endLog = beginLog(log, res, state);
    const recorded: Parameters<Synthesis["recordWhole"]>[4] = (error, receipt) => {
      if (!receipt) return refuse(error);
      if (req.socket.destroyed) synthesis.callerLeft(receipt);
      else {
        sendAudio(res, state.requestId, caller, presenter.headersFromMemory(plan, audio), audio);
        // Nearly always the operating system has taken all of it.
        if (res.writableLength > 0) onResponseEnd(res, unread.hold(principal.apiKey, audio.bytes.buffer));
      }
      endLog?.();
    };
    try {
      synthesis.recordWhole(plan, principal, state.requestId, audio, recorded);
    } catch (refusal) {
      refuse(refusal);
    }
    return true;
  };
};

/** Whether the response depends on more than the URL and the caller. */
const isSpecial = ({ method, headers }: IncomingMessage): boolean =>
  method !== "GET" ||
  headers["if-none-match"] !== undefined ||
  headers.range !== undefined ||
  headers["idempotency-key"] !== undefined;

/** One flat array of headers: Node then copies and merges nothing. */
const sendAudio = (
  res: ServerResponse,
  requestId: string,
  { admission: { limit, remaining } }: Caller,
  headers: readonly string[],
  { bytes }: Audio,
): void => {
  res.writeHead(200, [
    "X-Request-Id",
    requestId,
    "X-RateLimit-Limit",
    String(limit),
    "X-RateLimit-Remaining",
    String(remaining),
    ...headers,
  ]);
  res.end(bytes);
};

/** Undefined unless requests are logged: composing the line costs as much as the response. */
const beginLog = (log: Logger, res: ServerResponse, { requestId, route, caller }: RequestState) => {
  if (!log.isLevelEnabled("debug")) return undefined;
  const startedAt = performance.now();
  return (): void => {
    const ms = Math.round(performance.now() - startedAt);
    const status = res.headersSent ? res.statusCode : clientClosedRequest;
    log.debug(
      {
        requestId,
        method: "GET",
        route: route.operation?.template,
        status,
        ms,
        apiKey: caller?.principal.apiKey,
        fastPath: true,
      },
      "request",
    );
  };
};
