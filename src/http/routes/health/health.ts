import Router from "@koa/router";
import type { Context } from "koa";
import { z } from "zod";
import type { CheckHealth, Health } from "../../../application/health/health.ts";
import type { Readiness, ReadinessCheck } from "../../../application/health/readiness.ts";

const part = z.object({
  status: z.enum(["ok", "down"]),
  detail: z.string().exactOptional().meta({ description: "What is wrong." }),
});

/** HealthStatus, and of each part the same. */
export const healthStatus: z.ZodType<Health> = z.object({
  status: z.enum(["ok", "degraded", "down"]),
  parts: z.record(z.string(), part),
});

export const liveness = z.object({ status: z.literal("ok") });

export const readinessStatus: z.ZodType<Readiness> = z.object({
  status: z.enum(["ok", "degraded", "down", "draining"]),
  dependencies: z.array(
    part.extend({
      name: z.string(),
      since: z.iso.datetime().meta({ description: "When it was first seen in this state." }),
    }),
  ),
});

/**
 * Without credentials. `GET /health`: the state of all parts, 503 when nothing can be served. `/health/live`: 200 as long
 * as the process answers at all, whatever it depends on: to restart it would not mend that. `/health/ready`: 503 also while
 * it is draining, so that whoever shares out requests looks elsewhere.
 */
export const healthRoutes = ({
  checkHealth,
  readiness,
}: {
  checkHealth: CheckHealth;
  readiness: ReadinessCheck;
}): Router => {
  const router = new Router();
  router.get("/health", async (ctx) => {
    const health = await checkHealth();
    tell(ctx, health.status === "down" ? 503 : 200, health);
  });
  router.get("/health/live", (ctx) => tell(ctx, 200, { status: "ok" } satisfies z.output<typeof liveness>));
  router.get("/health/ready", async (ctx) => {
    const ready = await readiness.check();
    tell(ctx, ready.status === "ok" || ready.status === "degraded" ? 200 : 503, ready);
  });
  return router;
};

const tell = (ctx: Context, status: number, body: object): void => {
  ctx.status = status;
  ctx.set("Cache-Control", "no-store");
  ctx.body = body;
};
