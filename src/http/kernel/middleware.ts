import { randomUUID } from "node:crypto";
import type { Context, Middleware } from "koa";
import type { Logger } from "pino";
import { NotFound } from "../../domain/errors.ts";
import { type AdmissionRules, type Gate, limitHeaders, requireAdmission } from "../access/gate.ts";
import { isOurFault, MethodNotAllowed, presentError } from "./errors.ts";
import type { RequestObserver } from "./observer.ts";
import { replyError } from "./reply.ts";

/** Gives the request its id: in the answer, the log and the ledger the same. */
export const identify = (): Middleware => async (ctx, next) => {
  ctx.state.requestId = randomUUID();
  ctx.set("X-Request-Id", ctx.state.requestId);
  await next();
};

/** From here to the last byte of the answer, or to the client's leaving. */
export const followRequests =
  (observer: RequestObserver): Middleware =>
  async (ctx, next) => {
    const followed = observer.begin(ctx.req, ctx.state.requestId);
    ctx.res.once("close", () =>
      followed.end(ctx._matchedRoute, ctx.res.writableFinished ? ctx.res.statusCode : clientClosedRequest),
    );
    await followed.run(next);
  };

/**
 * One line a request: the route, never the address with what was asked in it. Balancers look at an instance's health every
 * second or so: what went well is not worth a line of each.
 */
export const logRequests =
  (log: Logger): Middleware =>
  async (ctx, next) => {
    const began = performance.now();
    await next();
    const aborted = ctx.res.destroyed;
    const status = aborted ? clientClosedRequest : ctx.status;
    const ms = Math.round(performance.now() - began);
    const level = isLook(ctx) && status === 200 ? "debug" : "info";
    log[level]({ ...told(ctx), status, ms, ...(aborted && { aborted }) }, "request");
  };

const isLook = ({ _matchedRoute: route }: Context): boolean => route?.startsWith("/health") ?? false;

/** Nobody is sent it: what logs call a request whose client left before its answer. */
const clientClosedRequest = 499;

/** What the log may know of a request. */
const told = (ctx: Context) => ({
  requestId: ctx.state.requestId,
  method: ctx.method,
  route: ctx._matchedRoute,
  apiKey: ctx.state.caller?.principal.apiKey,
});

/** Turns whatever went wrong, and whatever nobody answered, into the envelope. */
export const presentErrors =
  (log: Logger): Middleware =>
  async (ctx, next) => {
    try {
      await next();
      if (ctx.status === 405 || ctx.status === 501) throw new MethodNotAllowed(allowed(ctx));
      if (ctx.status === 404 && ctx.body == null) throw new NotFound("There is nothing under this address.");
    } catch (error) {
      if (ctx.res.destroyed) return; // nobody is there to be told
      if (isOurFault(presentError(error))) log.error({ ...told(ctx), err: error }, "failed");
      replyError(ctx, error);
    }
  };

const allowed = (ctx: Context): string[] =>
  String(ctx.response.get("Allow"))
    .split(", ")
    .filter((method) => method !== "");

/**
 * Lets in who is known and within the limits, and suspended keys only where the route says so; the limits are told in
 * every answer.
 */
export const authenticated =
  (gate: Gate, rules?: AdmissionRules): Middleware =>
  async (ctx, next) => {
    const caller = gate(ctx.req);
    ctx.state.caller = caller;
    ctx.set(limitHeaders(caller.admission));
    requireAdmission(caller, rules);
    await next();
  };

/** The website of who was let in. */
export const websiteOf = (ctx: Context): string => ctx.state.caller.principal.websiteId;

/** An abort signal that is raised when the client leaves before its answer is whole. */
export const leaving = (ctx: Context): AbortSignal => {
  const controller = new AbortController();
  ctx.res.once("close", () => {
    if (!ctx.res.writableFinished) controller.abort(new Error("the client has left"));
  });
  return controller.signal;
};
