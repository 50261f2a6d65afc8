import Router from "@koa/router";
import { z } from "zod";
import type { ReportUsage } from "../../application/usage-report.ts";
import { parse } from "../validation.ts";

const query = z.object({ month: z.string().optional(), asOf: z.string().optional() });

/** GET /admin/keys/{apiKey}/usage: a month's totals by day, engine and voice, now or as of a time. */
export const usageRouter = ({ reportUsage }: { reportUsage: ReportUsage }): Router => {
  const router = new Router();
  router.get("/admin/keys/:apiKey/usage", async (ctx) => {
    const apiKey = parse(z.string(), ctx.params.apiKey);
    ctx.body = await reportUsage({ apiKey, ...parse(query, ctx.query) });
    ctx.set("Cache-Control", "no-store");
  });
  return router;
};
