import Router from "@koa/router";
import { z } from "zod";
import type { ReportUsage } from "../../../application/usage/usage-report.ts";
import { leaving } from "../../kernel/middleware.ts";
import { paramOf, parse } from "../../kernel/validation.ts";

export const usageQuery = z.object({ month: z.string().optional(), asOf: z.string().optional() });

/** GET /admin/keys/{apiKey}/usage: a month's totals by day, engine and voice, now or as of a time. */
export const usageRoutes = ({ reportUsage }: { reportUsage: ReportUsage }): Router => {
  const router = new Router({ prefix: "/admin" });
  router.get("/keys/:apiKey/usage", async (ctx) => {
    const request = { apiKey: paramOf(ctx, "apiKey"), ...parse(usageQuery, ctx.query) };
    ctx.body = await reportUsage({ ...request, signal: leaving(ctx) });
  });
  return router;
};
