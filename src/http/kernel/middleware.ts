import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Context, Middleware } from "koa";
import type { Logger } from "pino";
import { NotFound, Unavailable } from "../../domain/errors.ts";
import { describeRefusal, isInternalError, MethodNotAllowed, presentError } from "./errors/error-codes.ts";
import { respondWithError } from "./respond.ts";

/** Sends the id that the log and the ledger share. */
export const showRequestId: Middleware = (ctx, next) => {
  ctx.set("X-Request-Id", ctx.state.requestId);
  return next();
};

/**
 * Logs one line per request with its route, never its URL, which may hold the text to speak. The
 * line of a refused request has the code and the reason. Successful health checks are logged at
 * `debug`, because load balancers repeat them every second.
 */
export const logRequests =
  (log: Logger): Middleware =>
  async (ctx, next) => {
    const startedAt = performance.now();
    await next();
    const aborted = ctx.res.destroyed;
    const status = aborted ? clientClosedRequest : ctx.status;
    const ms = Math.round(performance.now() - startedAt);
    const level = isHealthCheck(ctx) && status === 200 ? "debug" : "info";
    const { refusal } = ctx.state;
    const why = refusal === undefined ? {} : describeRefusal(refusal);
    log[level]({ ...loggedFields(ctx), status, ...why, ms, ...(aborted && { aborted }) }, "request");
  };

const isHealthCheck = ({ state }: Context): boolean =>
  state.route.operation?.template.startsWith("/health") ?? false;

/** nginx's status for a request whose client disconnected before the response; never sent. */
export const clientClosedRequest = 499;

const loggedFields = (ctx: Context) => ({
  requestId: ctx.state.requestId,
  method: ctx.method,
  route: ctx.state.route.operation?.template,
  apiKey: ctx.state.caller?.principal.apiKey,
  actor: ctx.state.actor,
});

/**
 * Reports the code of each error that is sent to a caller of the API, or its status if it has no
 * code.
 */
export const countRefusals =
  (refused: (code: string) => void): Middleware =>
  async (ctx, next) => {
    await next();
    if (ctx.res.destroyed || ctx.status < 400 || ctx.path.startsWith("/admin")) return;
    const { refusal } = ctx.state;
    const code = refusal === undefined ? undefined : describeRefusal(refusal).code;
    refused(code ?? String(ctx.status));
  };

/** Sends errors in the envelope of the path. */
export const presentErrors =
  (log: Logger): Middleware =>
  async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      if (ctx.res.destroyed) return;
      ctx.state.refusal = error;
      if (isInternalError(presentError(error))) log.error({ ...loggedFields(ctx), err: error }, "failed");
      respondWithError(ctx, error);
    }
  };

/** Announces the deprecation of an operation on every response of its path. */
export const announceDeprecation: Middleware = (ctx, next) => {
  ctx.set({ ...ctx.state.route.deprecation });
  return next();
};

/**
 * Runs the operation of the route.
 * @throws {NotFound}
 * @throws {MethodNotAllowed}
 */
export const callOperation: Middleware = async (ctx) => {
  const { operation, allow } = ctx.state.route;
  if (operation) return await operation.handle(ctx);
  if (allow.length === 0) throw new NotFound("There is nothing under this address.");
  if (ctx.method !== "OPTIONS") throw new MethodNotAllowed(allow);
  ctx.status = 200;
  ctx.body = "";
  ctx.set("Allow", allow.join(", "));
};

/**
 * Calls back when the response was passed to the operating system, or the client has disconnected.
 */
export const onResponseEnd = (res: ServerResponse, callback: () => void): void => {
  if (res.closed) callback();
  else res.once("close", callback);
};

/**
 * Returns a signal that aborts when the connection ends before its response is complete. During a
 * shutdown, which destroys the remaining connections, the reason is {Unavailable}.
 */
export const disconnectSignal = (ctx: Context): AbortSignal => {
  const controller = new AbortController();
  const { server } = ctx.req.socket as Socket & { readonly server?: Server }; // net.Server sets it
  onResponseEnd(ctx.res, () => {
    if (ctx.res.writableFinished) return;
    const isShuttingDown = server?.listening === false;
    controller.abort(isShuttingDown ? shuttingDown : new Error("the client has disconnected"));
  });
  return controller.signal;
};

const shuttingDown = new Unavailable("The service is shutting down.", 1);
