import Koa, { type Middleware } from "koa";
import type { Logger } from "pino";
import { assignRequestId, followRequests, logRequests, presentErrors } from "./middleware.ts";
import type { RequestObserver } from "./observer.ts";
import type { OperationRouter } from "./router.ts";

/** The Koa application: the middleware of every request, in this order, then the operations. */
export const createApp = ({
  log,
  router,
  middleware = [],
  observer,
}: {
  log: Logger;
  router: OperationRouter;
  /** Applies to every response, errors included. */
  middleware?: readonly Middleware[];
  observer?: RequestObserver | undefined;
}): Koa => {
  const app = new Koa();
  app.use(assignRequestId());
  if (observer) app.use(followRequests(observer));
  app.use(logRequests(log));
  for (const each of middleware) app.use(each);
  app.use(presentErrors(log));
  app.use(router.routes);

  // Errors after the headers are sent: the connection is already closed, so they are only logged.
  app.on("error", (error) => log.warn({ err: error }, "response aborted"));
  return app;
};
