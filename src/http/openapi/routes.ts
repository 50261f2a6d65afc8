import Router from "@koa/router";
import { noneMatchHits } from "../conditional.ts";
import { reply } from "../reply.ts";
import { taggedJson } from "../tagged-json.ts";
import type { OpenApiDocument } from "./document.ts";

/** `GET /openapi.json`: one description, the same bytes as long as the process lives. */
export const openApiRoutes = (document: OpenApiDocument): Router => {
  const { body, etag } = taggedJson(document);
  const headers = { ETag: etag, "Cache-Control": "public, no-cache" };
  const router = new Router();
  router.get("/openapi.json", (ctx) => {
    if (noneMatchHits(ctx.req.headers["if-none-match"], [etag])) return reply(ctx, { status: 304, headers });
    reply(ctx, { status: 200, headers: { ...headers, "Content-Type": "application/json" }, body });
  });
  return router;
};
