import { randomUUID } from "node:crypto";
import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Context, Middleware } from "koa";
import type { Logger } from "pino";
import { NotFound, Unavailable } from "../../domain/errors.ts";
import { isInternalError, presentError } from "./errors/error-types.ts";
import type { RequestObserver } from "./observer.ts";
import { respondWithError } from "./respond.ts";
import type { OperationRouter } from "./router.ts";

/** Generates the request id that the response, the log and the ledger share. */
export const assignRequestId = (): Middleware => async (ctx, next) => {
  ctx.state.requestId = randomUUID();
  ctx.set("X-Request-Id", ctx.state.requestId);
  await next();
};

/** Reports each request until its response is sent or the client disconnects. */
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
 * Logs one line per request with its route, never its URL, which may hold the text to speak. Successful health checks are
 * logged at `debug`, because load balancers repeat them every second.
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
    log[level]({ ...loggedFields(ctx), status, ms, ...(aborted && { aborted }) }, "request");
  };

const isHealthCheck = ({ _matchedRoute: route }: Context): boolean => route?.startsWith("/health") ?? false;

/** nginx's status for a request whose client disconnected before the response; never sent. */
export const clientClosedRequest = 499;

const loggedFields = (ctx: Context) => ({
  requestId: ctx.state.requestId,
  method: ctx.method,
  route: ctx._matchedRoute,
  apiKey: ctx.state.caller?.principal.apiKey,
  actor: ctx.state.actor,
});

/** Sends errors, and requests that no operation answered, in the error envelope. */
export const presentErrors =
  (log: Logger): Middleware =>
  async (ctx, next) => {
    try {
      await next();
      if (ctx.status === 404 && ctx.body == null) throw new NotFound("There is nothing under this address.");
    } catch (error) {
      if (ctx.res.destroyed) return;
      if (isInternalError(presentError(error))) log.error({ ...loggedFields(ctx), err: error }, "failed");
      respondWithError(ctx, error);
    }
  };

/** Announces the deprecation of an operation on every response of its path. */
export const announceDeprecation =
  ({ itemOf }: Pick<OperationRouter, "itemOf">): Middleware =>
  async (ctx, next) => {
    ctx.set({ ...itemOf(ctx.path)?.deprecation });
    await next();
  };

/** The id of the authenticated website. */
export const websiteOf = (ctx: Context): string => ctx.state.caller.principal.websiteId;

/** Calls back when the response was passed to the operating system, or the client has disconnected. */
export const onResponseEnd = (res: ServerResponse, callback: () => void): void => {
  if (res.closed) callback();
  else res.once("close", callback);
};

/**
 * Aborts when the connection ends before its response is complete: with {Unavailable} during a shutdown, which destroys the
 * connections that are left.
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
