import { randomUUID } from "node:crypto";
import type { Context, Middleware } from "koa";
import { koaBody } from "koa-body";
import type { Logger } from "pino";
import { Invalid, NotFound } from "../domain/errors.ts";
import { isOurFault, MethodNotAllowed, presentError } from "./errors.ts";
import { type AdmissionRules, type Gate, limitHeaders, requireAdmission } from "./gate.ts";
import { replyError } from "./reply.ts";

/** Gives the request its id: in the answer, the log and the ledger the same. */
export const identify = (): Middleware => async (ctx, next) => {
  ctx.state.requestId = randomUUID();
  ctx.set("X-Request-Id", ctx.state.requestId);
  await next();
};

/** One line a request: the route, never the address with what was asked in it. */
export const logRequests =
  (log: Logger): Middleware =>
  async (ctx, next) => {
    const began = performance.now();
    await next();
    log.info(
      {
        requestId: ctx.state.requestId,
        method: ctx.method,
        route: ctx._matchedRoute,
        status: ctx.status,
        ms: Math.round(performance.now() - began),
        apiKey: ctx.state.caller?.principal.apiKey,
      },
      "request",
    );
  };

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
      if (isOurFault(presentError(error)))
        log.error({ requestId: ctx.state.requestId, err: error }, "failed");
      const { status } = replyError(ctx, error);
      if (status === 413) ctx.set("Connection", "close"); // the rest of the body is not worth reading
    }
  };

const allowed = (ctx: Context): string[] =>
  String(ctx.response.get("Allow"))
    .split(", ")
    .filter((method) => method !== "");

const bodyLimit = "1mb";

/** The methods whose body means something. What comes with any other is left alone, whatever it is. */
const withBody = new Set(["POST", "PUT", "PATCH"]);

/** Reads a JSON body of at most 1 MiB into `ctx.request.body`. @throws {Invalid} for any other kind of body */
export const jsonBody = (): Middleware => {
  const read = koaBody({
    json: true,
    text: false,
    urlencoded: false,
    multipart: false,
    jsonLimit: bodyLimit,
  });
  return async (ctx, next) => {
    if (!withBody.has(ctx.method)) return await next();
    // `is` answers null when there is no body at all, but takes `Content-Length: 0` for one.
    if (ctx.request.length !== 0 && ctx.is("json", "+json") === false) {
      throw new Invalid([{ path: [], message: "The body must be sent as application/json." }]);
    }
    await read(ctx, next);
  };
};

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

/** An abort signal that is raised when the client leaves before its answer is whole. */
export const leaving = (ctx: Context): AbortSignal => {
  const controller = new AbortController();
  ctx.res.once("close", () => {
    if (!ctx.res.writableFinished) controller.abort(new Error("the client has left"));
  });
  return controller.signal;
};
