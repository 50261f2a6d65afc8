import Router from "@koa/router";
import { noneMatchHits } from "../caching/conditional.ts";
import { codedTag } from "../caching/content-coding.ts";
import { taggedJson } from "../caching/tagged-json.ts";
import { reply } from "../kernel/reply.ts";
import type { OpenApiDocument } from "./document.ts";

/** `GET /openapi.json`: one description, the same bytes as long as the process lives. */
export const openApiRoutes = (document: OpenApiDocument): Router => {
  const { body, etag } = taggedJson(document);
  const router = new Router();
  router.get("/openapi.json", (ctx) => {
    const selected = codedTag(ctx, etag, body.length);
    const headers = { ETag: selected, "Cache-Control": "public, no-cache" };
    if (noneMatchHits(ctx.req.headers["if-none-match"], [selected])) {
      return reply(ctx, { status: 304, headers });
    }
    reply(ctx, { status: 200, headers: { ...headers, "Content-Type": "application/json" }, body });
  });
  return router;
};
