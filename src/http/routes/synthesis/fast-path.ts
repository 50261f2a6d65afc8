import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "pino";
import type { Sound, Synthesis } from "../../../application/synthesis/delivery.ts";
import type { SynthesisPlan } from "../../../application/synthesis/planner.ts";
import type { ApiCors } from "../../access/cors.ts";
import { type Gate, limitHeaders, requireAdmission } from "../../access/gate.ts";
import { isOurFault } from "../../kernel/errors.ts";
import type { RequestObserver } from "../../kernel/observer.ts";
import { send, sendError } from "../../kernel/reply.ts";
import type { FastPath } from "../../kernel/server.ts";

import type { PreparedPlans } from "./prepared-plans.ts";
import type { SynthesisPresenter } from "./presenter.ts";

const route = "/v2/text/synthesize";
const urlPrefix = `${route}?`;
const never = new AbortController().signal;

/**
 * Answers a plain GET whose URL was planned before and whose audio is in memory. Authentication, rate limits, ledger and
 * presenter are those of every request; only the router and the parser are skipped.
 */
export const createFastPath = ({
  gate,
  apiCors,
  synthesis,
  presenter,
  prepared,
  log,
  observer,
}: {
  gate: Gate;
  apiCors: ApiCors;
  synthesis: Synthesis;
  presenter: SynthesisPresenter;
  prepared: PreparedPlans;
  log: Logger;
  observer?: RequestObserver | undefined;
}): FastPath => {
  const serve = async (
    req: IncomingMessage,
    res: ServerResponse,
    plan: SynthesisPlan,
    sound: Sound,
    requestId: string,
  ): Promise<void> => {
    const startedAt = performance.now();
    const headers: Record<string, string> = { "X-Request-Id": requestId };
    let apiKey: string | undefined;
    try {
      const caller = gate(req);
      apiKey = caller.principal.apiKey;
      Object.assign(headers, limitHeaders(caller.admission));
      requireAdmission(caller);
      const { principal } = caller;
      const answer = await presenter.deliver(plan, sound, {
        method: "GET",
        principal,
        requestId,
        signal: never,
      });
      send(res, { ...answer, headers: Object.assign(headers, answer.headers) });
    } catch (error) {
      const answer = sendError(res, error, { ...headers, ...apiCors(req.headers.origin) });
      if (isOurFault(answer)) log.error({ requestId, method: "GET", route, apiKey, err: error }, "failed");
    }
    if (!log.isLevelEnabled("debug")) return; // composing the line costs as much as the response
    const ms = Math.round(performance.now() - startedAt);
    const { statusCode: status } = res;
    log.debug({ requestId, method: "GET", route, status, ms, apiKey, fastPath: true }, "request");
  };

  const follow = async (
    { begin }: RequestObserver,
    ...request: [req: IncomingMessage, res: ServerResponse, plan: SynthesisPlan, sound: Sound]
  ): Promise<void> => {
    const requestId = randomUUID();
    const [req, res] = request;
    const followed = begin(req, requestId);
    await followed.run(() => serve(...request, requestId));
    followed.end(route, res.statusCode);
  };

  return (req, res) => {
    if (req.method !== "GET" || !req.url?.startsWith(urlPrefix) || isSpecial(req)) return false;
    const plan = prepared.of(req.url);
    if (!plan || plan.silent || !synthesis.isCurrent(plan)) return false;
    const sound = synthesis.fromMemory(plan);
    if (!sound) return false;
    void (observer ? follow(observer, req, res, plan, sound) : serve(req, res, plan, sound, randomUUID()));
    return true;
  };
};

/** Whether the response depends on more than the URL and the caller. */
const isSpecial = ({ headers }: IncomingMessage): boolean =>
  headers["if-none-match"] !== undefined ||
  headers.range !== undefined ||
  headers["idempotency-key"] !== undefined;
