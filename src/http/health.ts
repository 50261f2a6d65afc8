import Router from "@koa/router";

/** The state of one thing that the service depends on. */
export interface PartHealth {
  readonly status: "ok" | "down";
  /** What is wrong, in words that tell no secrets. */
  readonly detail?: string;
}

export interface Health {
  /** `ok`: everything works; `degraded`: synthesis works without something; `down`: it does not. */
  readonly status: "ok" | "degraded" | "down";
  readonly parts: Readonly<Record<string, PartHealth>>;
}

/** `GET /health`, without credentials: 503 when nothing can be served. */
export const healthRoutes = ({ health }: { health: () => Promise<Health> }): Router => {
  const router = new Router();
  router.get("/health", async (ctx) => {
    const report = await health();
    ctx.status = report.status === "down" ? 503 : 200;
    ctx.set("Cache-Control", "no-store");
    ctx.body = report;
  });
  return router;
};
