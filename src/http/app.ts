import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import Koa, { type Middleware } from "koa";
import type { Logger } from "pino";
import { RateLimited } from "../limits/limits.ts";
import { type ApiCors, cors } from "./access/cors.ts";
import { varyByCredentials } from "./access/credentials.ts";
import { requireAdmitted } from "./access/gate.ts";
import { type RenewToken, renewTokens } from "./access/token-renewal.ts";
import { compressText } from "./caching/content-coding.ts";
import { closeIfBegun } from "./kernel/close-delimited.ts";
import {
  announceDeprecation,
  callOperation,
  clientClosedRequest,
  countRefusals,
  logRequests,
  presentErrors,
  showRequestId,
} from "./kernel/middleware.ts";
import type { RequestObserver, RequestState } from "./kernel/request-state.ts";
import type { OperationRouter } from "./kernel/router.ts";
import type { HandleRequest } from "./kernel/server.ts";

interface MiddlewareOptions {
  readonly log: Logger;
  /** Called with the code of each error that is sent to a caller of the API. */
  readonly refused: (code: string) => void;
  readonly apiCors: ApiCors;
  /** The headers that pages of other origins may read. */
  readonly exposed: readonly string[];
  readonly renewToken: RenewToken;
  /** The request headers that may have credentials. */
  readonly credentialHeaders: readonly string[];
}

interface AppOptions extends MiddlewareOptions {
  readonly router: OperationRouter;
  readonly observer?: RequestObserver | undefined;
}

/**
 * Handles each request in this order:
 *
 * 1. It gets an id, and its route is found.
 * 2. Its trace and the measurement of its duration begin.
 * 3. Its caller is admitted: credentials, requests per minute, burst, suspension.
 * 4. If its audio is in memory, the ledger checks the quota and records the serving. Then the audio
 *    is sent.
 * 5. Otherwise the middleware runs, whose last step is the operation.
 *
 * A refusal by any step skips the others, except the middleware, which presents it. Whether a
 * request is admitted depends only on its route and its caller. So callers without credentials
 * learn nothing of what is in memory.
 */
export const createApp = ({ router, observer, ...options }: AppOptions): HandleRequest => {
  const runMiddleware = createRunner(middlewareOf(options), options.log);

  const handle = (req: IncomingMessage, res: ServerResponse, state: RequestState): void => {
    const { operation } = state.route;
    const refuse = (refusal: unknown): void => {
      state.refusal = refusal;
      runMiddleware(req, res, state);
    };
    if (state.refusal !== undefined) return void runMiddleware(req, res, state);
    try {
      operation?.admit?.(req, state);
    } catch (refusal) {
      // This process's share of a limit is used up, and nothing was counted: this asks for more,
      // then tries again.
      if (refusal instanceof RateLimited && refusal.more)
        return void refusal.more(() => handle(req, res, state));
      return void refuse(refusal);
    }
    try {
      if (operation?.fromMemory?.(req, res, state, refuse)) return;
    } catch (error) {
      return void refuse(error);
    }
    runMiddleware(req, res, state);
  };

  return (req, res, refusal) => {
    const { method = "", url = "" } = req;
    const route = router.find(method, url);
    const requestId = randomUUID();
    const state: RequestState = { requestId, route, caller: undefined, refusal };
    if (!observer) return handle(req, res, state);
    const followed = observer.begin(req, requestId);
    res.once("close", () => {
      const status = res.writableFinished ? res.statusCode : clientClosedRequest;
      followed.end(route.operation?.template, status);
    });
    followed.run(() => handle(req, res, state));
  };
};

/** The steps of a request that gets no response from memory, in their order. */
const middlewareOf = (options: MiddlewareOptions): readonly Middleware[] => [
  showRequestId,
  logRequests(options.log),
  countRefusals(options.refused),
  compressText(),
  cors(options.apiCors, options.exposed),
  renewTokens(options.renewToken),
  varyByCredentials(options.credentialHeaders),
  announceDeprecation,
  presentErrors(options.log),
  requireAdmitted,
  callOperation,
];

const createRunner = (middleware: readonly Middleware[], log: Logger) => {
  const app = new Koa();
  const states = new WeakMap<IncomingMessage, RequestState>();
  app.use((ctx, next) => {
    Object.assign(ctx, { state: states.get(ctx.req) });
    return next();
  });
  for (const step of middleware) app.use(step);
  // These errors come after the headers: the connection is already closed, so they are only logged.
  app.on("error", (error) => log.warn({ err: error }, "response aborted"));
  const run = app.callback();
  return (req: IncomingMessage, res: ServerResponse, state: RequestState): void => {
    res.on("timeout", closeIfBegun);
    states.set(req, state);
    void run(req, res);
  };
};
