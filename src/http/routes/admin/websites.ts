import Router from "@koa/router";
import {
  type OriginVerification,
  verificationRequest,
} from "../../../application/access/origin-verification.ts";
import { newOrigins, registration, type Websites } from "../../../application/accounts/websites.ts";
import { storedConfig } from "../../../domain/accounts/website-config.ts";
import { paramOf, parse } from "../../kernel/validation.ts";
import { operatorOf } from "./operator.ts";
import { pageOf } from "./paging.ts";

/** `/admin/websites`: who is served, from where, with which player. */
export const websiteRoutes = ({
  websites,
  originVerification,
}: {
  websites: Websites;
  originVerification: OriginVerification;
}): Router => {
  const router = new Router({ prefix: "/admin/websites" });

  router.post("/", async (ctx) => {
    const website = await websites.register(parse(registration, ctx.request.body), operatorOf(ctx));
    ctx.status = 201;
    ctx.set("Location", `/admin/websites/${website.id}`);
    ctx.set("Cache-Control", "no-store");
    ctx.body = website;
  });

  router.get("/", (ctx) => {
    const { entries, _links } = pageOf(ctx, websites.list(), ({ id }) => id);
    ctx.body = { websites: entries, count: entries.length, _links };
  });

  router.get("/:id", (ctx) => {
    ctx.body = websites.get(paramOf(ctx, "id"));
  });

  router.put("/:id/config", async (ctx) => {
    const config = parse(storedConfig, ctx.request.body);
    ctx.body = await websites.configure(paramOf(ctx, "id"), config, operatorOf(ctx));
  });

  router.put("/:id/origins", async (ctx) => {
    const { origins } = parse(newOrigins, ctx.request.body);
    ctx.body = await websites.setOrigins(paramOf(ctx, "id"), origins, operatorOf(ctx));
  });

  router.post("/:id/verifications", async (ctx) => {
    const { origin } = parse(verificationRequest, ctx.request.body);
    const verification = await originVerification.issue(paramOf(ctx, "id"), origin, operatorOf(ctx));
    ctx.status = 201;
    ctx.set("Cache-Control", "no-store");
    ctx.body = verification;
  });

  return router;
};
