import Router from "@koa/router";
import { z } from "zod";
import type { CheckHealth, Health } from "../application/health.ts";

const part = z.object({
  status: z.enum(["ok", "down"]),
  detail: z.string().exactOptional().meta({ description: "What is wrong." }),
});

/** HealthStatus (spec 2.6), and of each part the same. */
export const healthStatus: z.ZodType<Health> = z.object({
  status: z.enum(["ok", "degraded", "down"]),
  parts: z.record(z.string(), part),
});

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
