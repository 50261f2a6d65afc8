import Router from "@koa/router";
import type { CredentialsService } from "../../../application/accounts/credentials.ts";
import { byokEngines, parseCredentials } from "../../../domain/accounts/byok-providers.ts";
import { paramOf } from "../../kernel/validation.ts";
import { operatorOf } from "./operator.ts";

/** `/admin/websites/{id}/credentials`: on whose account the paid engines speak. They are taken, and never shown. */
export const credentialRoutes = ({ credentials }: { credentials: CredentialsService }): Router => {
  const router = new Router({ prefix: "/admin/websites/:id/credentials" });

  router.get("/", (ctx) => {
    const all = credentials.list(paramOf(ctx, "id"));
    ctx.body = { credentials: all, count: all.length };
  });

  for (const engine of byokEngines) {
    router.put(`/${engine}`, async (ctx) => {
      const given = parseCredentials(engine, ctx.request.body);
      ctx.body = await credentials.set(paramOf(ctx, "id"), engine, given, operatorOf(ctx));
    });

    router.delete(`/${engine}`, async (ctx) => {
      await credentials.remove(paramOf(ctx, "id"), engine, operatorOf(ctx));
      ctx.status = 204;
    });
  }

  return router;
};
