import Router from "@koa/router";
import Koa, { type Middleware } from "koa";
import type { Logger } from "pino";
import { followRequests, identify, logRequests, presentErrors } from "./middleware.ts";
import type { RequestObserver } from "./observer.ts";

/** The application: what happens to every request, in this order, and then the routes. */
export const createApp = ({
  log,
  routes,
  onEvery = [],
  observer,
}: {
  log: Logger;
  routes: readonly Router[];
  /** What is told with every answer, an error's too. */
  onEvery?: readonly Middleware[];
  observer?: RequestObserver | undefined;
}): Koa => {
  const app = new Koa();
  const all = new Router();
  for (const router of routes) all.use(router.routes());

  app.use(identify());
  if (observer) app.use(followRequests(observer));
  app.use(logRequests(log));
  for (const middleware of onEvery) app.use(middleware);
  app.use(presentErrors(log));
  app.use(all.routes());
  app.use(all.allowedMethods());

  // What fails after the answer has begun: the connection is gone already, only the log is left to be told.
  app.on("error", (error) => log.warn({ err: error }, "an answer broke off"));
  return app;
};
