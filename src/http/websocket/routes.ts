import Router from "@koa/router";
import { UpgradeRequired } from "../kernel/errors.ts";
import { streamPath } from "./handshake.ts";

/** Whoever comes to the socket's address by plain HTTP, or with a handshake that is none, is told to upgrade. */
export const socketRoutes = (): Router => {
  const router = new Router();
  router.get(streamPath, () => {
    throw new UpgradeRequired();
  });
  return router;
};
