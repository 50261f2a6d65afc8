import Router from "@koa/router";
import type { CheckHealth } from "../application/health.ts";

/** `GET /health`, without credentials: 503 when nothing can be served. */
export const healthRoutes = ({ checkHealth }: { checkHealth: CheckHealth }): Router => {
  const router = new Router();
  router.get("/health", async (ctx) => {
    const health = await checkHealth();
    ctx.status = health.status === "down" ? 503 : 200;
    ctx.set("Cache-Control", "no-store");
    ctx.body = health;
  });
  return router;
};
