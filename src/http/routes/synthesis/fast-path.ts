import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "pino";
import type { Audio, Synthesis } from "../../../application/synthesis/delivery.ts";
import type { SynthesisPlan } from "../../../application/synthesis/planner.ts";
import type { Receipt } from "../../../domain/ledger/journal/serving.ts";
import type { UnreadAudio } from "../../../limits/unread-audio.ts";
import type { ApiCors } from "../../access/cors.ts";
import { type Caller, type Gate, limitHeaders, requireAdmission } from "../../access/gate.ts";
import { isInternalError } from "../../kernel/errors/error-types.ts";
import { clientClosedRequest, onResponseEnd } from "../../kernel/middleware.ts";
import type { RequestObserver } from "../../kernel/observer.ts";
import { sendError } from "../../kernel/respond.ts";
import type { FastPath } from "../../kernel/server.ts";
import type { PreparedPlans } from "./prepared-plans.ts";
import type { SynthesisPresenter } from "./presenter.ts";

const route = "/v2/text/synthesize";
const urlPrefix = `${route}?`;

interface FastPathOptions {
  readonly gate: Gate;
  /** The website that the request's credentials name, unchecked. */
  readonly claimedWebsite: (req: IncomingMessage) => string | undefined;
  readonly apiCors: ApiCors;
  readonly synthesis: Pick<
    Synthesis,
    "isCurrent" | "usesSharedPlans" | "fromMemory" | "recordWhole" | "callerLeft"
  >;
  readonly presenter: Pick<SynthesisPresenter, "headersFromMemory">;
  readonly prepared: PreparedPlans;
  readonly unread: Pick<UnreadAudio, "hold">;
  readonly log: Logger;
  readonly observer?: RequestObserver | undefined;
}

/**
 * Answers a plain GET whose URL was planned before and whose audio is in memory, for websites without lexicons. Authentication, rate limits, ledger and
 * presenter are those of every request; only the router and the parser are skipped. It uses callbacks and prebuilt headers,
 * because promises and middleware would cost more than the rest of the request.
 */
export const createFastPath = (options: FastPathOptions): FastPath => {
  const { synthesis, prepared, observer, claimedWebsite } = options;
  const serve = createServe(options);

  const currentPlan = (req: IncomingMessage, url: string): SynthesisPlan | undefined => {
    const plan = prepared.of(url);
    if (!plan || plan.muted) return undefined;
    try {
      const isCurrent = synthesis.isCurrent(plan) && synthesis.usesSharedPlans(() => claimedWebsite(req));
      return isCurrent ? plan : undefined;
    } catch {
      return undefined; // A view is out of date: the router answers the error.
    }
  };

  return (req, res) => {
    if (req.method !== "GET" || !req.url?.startsWith(urlPrefix) || isSpecial(req)) return false;
    const plan = currentPlan(req, req.url);
    const audio = plan && synthesis.fromMemory(plan);
    if (!audio) return false;
    const requestId = randomUUID();
    if (!observer) serve(req, res, { requestId, plan, audio });
    else {
      const followed = observer.begin(req, requestId);
      const onSent = () => followed.end(route, res.statusCode);
      followed.run(() => serve(req, res, { requestId, plan, audio, onSent }));
    }
    return true;
  };
};

/** Whether the response depends on more than the URL and the caller. */
const isSpecial = ({ headers }: IncomingMessage): boolean =>
  headers["if-none-match"] !== undefined ||
  headers.range !== undefined ||
  headers["idempotency-key"] !== undefined;

interface FastResponse {
  readonly requestId: string;
  readonly plan: SynthesisPlan;
  readonly audio: Audio;
  /** Called once, after the response was passed to the connection. */
  readonly onSent?: () => void;
}

const createServe = ({ gate, apiCors, synthesis, presenter, unread, log }: FastPathOptions) => {
  const refuse = (
    req: IncomingMessage,
    res: ServerResponse,
    { requestId }: FastResponse,
    error: unknown,
    caller: Caller | undefined,
  ): void => {
    const response = sendError(res, error, {
      "X-Request-Id": requestId,
      ...(caller && limitHeaders(caller.admission)),
      ...apiCors(req.headers.origin),
    });
    if (!isInternalError(response)) return;
    const apiKey = caller?.principal.apiKey;
    log.error({ requestId, method: "GET", route, apiKey, err: error }, "failed");
  };

  return (req: IncomingMessage, res: ServerResponse, response: FastResponse): void => {
    const { requestId, plan, audio, onSent } = response;
    const endLog = beginLog(log, res, requestId);
    let caller: Caller | undefined;
    const end = (error: unknown, receipt?: Receipt): void => {
      if (error || !caller) refuse(req, res, response, error, caller);
      else if (receipt && req.socket.destroyed) {
        synthesis.callerLeft(receipt);
        res.statusCode = clientClosedRequest;
      } else {
        sendAudio(res, response, caller, presenter.headersFromMemory(plan, audio));
        // Nearly always the operating system has taken all of it.
        if (res.writableLength > 0)
          onResponseEnd(res, unread.hold(caller.principal.apiKey, audio.bytes.buffer));
      }
      endLog?.(caller);
      onSent?.();
    };
    try {
      caller = gate(req);
      requireAdmission(caller);
      synthesis.recordWhole(plan, caller.principal, requestId, audio, end);
    } catch (error) {
      end(error);
    }
  };
};

/** One flat array of headers: Node then copies and merges nothing. */
const sendAudio = (
  res: ServerResponse,
  { requestId, audio }: FastResponse,
  { admission: { limit, remaining } }: Caller,
  headers: readonly string[],
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
  res.end(audio.bytes);
};

/** Undefined unless requests are logged: composing the line costs as much as the response. */
const beginLog = (log: Logger, res: ServerResponse, requestId: string) => {
  if (!log.isLevelEnabled("debug")) return undefined;
  const startedAt = performance.now();
  return (caller: Caller | undefined): void => {
    const ms = Math.round(performance.now() - startedAt);
    const apiKey = caller?.principal.apiKey;
    log.debug(
      { requestId, method: "GET", route, status: res.statusCode, ms, apiKey, fastPath: true },
      "request",
    );
  };
};
