import Router from "@koa/router";
import { z } from "zod";
import type { CatalogService } from "../../../application/catalog/catalog.ts";
import { paramOf, parse } from "../../kernel/validation.ts";
import { operatorOf } from "./operator.ts";
import { pageOf } from "./paging.ts";

export const systemVoiceId = z.object({ id: z.coerce.number().int().positive() });

/** `/admin/voices` and `/admin/system-voices`: the catalog that every website has. Nothing is ever taken out of it. */
export const catalogRoutes = ({ catalog }: { catalog: CatalogService }): Router => {
  const router = new Router({ prefix: "/admin" });

  router.get("/voices", (ctx) => {
    const { voices, systemVoices } = catalog.list();
    const { entries, _links } = pageOf(ctx, voices, ({ name }) => name);
    const ids = new Set(entries.flatMap(({ voiceIDs }) => voiceIDs));
    const behind = systemVoices.filter(({ id }) => ids.has(id));
    ctx.body = { voices: entries, systemVoices: behind, count: entries.length, _links };
  });

  router.get("/system-voices", (ctx) => {
    const { entries, _links } = pageOf(ctx, catalog.list().systemVoices, ({ id }) => String(id));
    ctx.body = { systemVoices: entries, count: entries.length, _links };
  });

  router.get("/voices/:name", (ctx) => {
    ctx.body = catalog.voice(paramOf(ctx, "name"));
  });

  router.post("/voices", async (ctx) => {
    const voice = await catalog.addVoice(ctx.request.body, operatorOf(ctx));
    ctx.status = 201;
    ctx.set("Location", `/admin/voices/${encodeURIComponent(voice.name)}`);
    ctx.body = voice;
  });

  router.patch("/voices/:name", async (ctx) => {
    ctx.body = await catalog.changeVoice(paramOf(ctx, "name"), ctx.request.body, operatorOf(ctx));
  });

  router.delete("/voices/:name", async (ctx) => {
    ctx.body = await catalog.deprecateVoice(paramOf(ctx, "name"), operatorOf(ctx));
  });

  router.post("/system-voices", async (ctx) => {
    ctx.status = 201;
    ctx.body = await catalog.addSystemVoice(ctx.request.body, operatorOf(ctx));
  });

  router.delete("/system-voices/:id", async (ctx) => {
    const { id } = parse(systemVoiceId, ctx.params);
    ctx.body = await catalog.deprecateSystemVoice(id, operatorOf(ctx));
  });

  return router;
};
