import Router from "@koa/router";
import { z } from "zod";
import type { Keys } from "../../../application/accounts/keys.ts";
import { reason } from "../../../domain/accounts/key.ts";
import { planOrTier, planRequest } from "../../../domain/accounts/plan.ts";
import { paramOf, parse } from "../../kernel/validation.ts";
import { operatorOf } from "./operator.ts";
import { pageOf } from "./paging.ts";

export const issuance = z.strictObject({ plan: planOrTier });
export const suspension = z.strictObject({ reason });
export const reinstatement = z.strictObject({ reason: reason.default("reinstated by the operator") });

/** `/admin/keys`, and the keys of `/admin/websites/{id}`: what is counted, and how much is allowed. */
export const keyRoutes = ({ keys }: { keys: Keys }): Router => {
  const router = new Router({ prefix: "/admin" });

  router.post("/websites/:id/keys", async (ctx) => {
    const { plan } = parse(issuance, ctx.request.body ?? {});
    const key = await keys.issue(paramOf(ctx, "id"), plan, operatorOf(ctx));
    ctx.status = 201;
    ctx.set("Location", `/admin/keys/${key.apiKey}`);
    ctx.set("Cache-Control", "no-store");
    ctx.body = key;
  });

  router.get("/keys", (ctx) => {
    const { entries, _links } = pageOf(ctx, keys.list(), ({ apiKey }) => apiKey);
    ctx.body = { keys: entries, count: entries.length, _links };
  });

  router.get("/keys/:apiKey", (ctx) => {
    ctx.body = keys.get(paramOf(ctx, "apiKey"));
  });

  router.post("/keys/:apiKey/secrets", async (ctx) => {
    const secret = await keys.createSecret(paramOf(ctx, "apiKey"), operatorOf(ctx));
    ctx.status = 201;
    ctx.set("Cache-Control", "no-store");
    ctx.body = secret;
  });

  router.delete("/keys/:apiKey/secrets/:secretId", async (ctx) => {
    await keys.revokeSecret(paramOf(ctx, "apiKey"), paramOf(ctx, "secretId"), operatorOf(ctx));
    ctx.status = 204;
  });

  router.put("/keys/:apiKey/plan", async (ctx) => {
    const plan = parse(planRequest, ctx.request.body);
    ctx.body = await keys.changePlan(paramOf(ctx, "apiKey"), plan, operatorOf(ctx));
  });

  router.post("/keys/:apiKey/suspend", async (ctx) => {
    const { reason } = parse(suspension, ctx.request.body);
    ctx.body = await keys.suspend(paramOf(ctx, "apiKey"), reason, operatorOf(ctx));
  });

  router.post("/keys/:apiKey/reinstate", async (ctx) => {
    const { reason } = parse(reinstatement, ctx.request.body ?? {});
    ctx.body = await keys.reinstate(paramOf(ctx, "apiKey"), reason, operatorOf(ctx));
  });

  return router;
};
