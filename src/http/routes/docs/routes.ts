import Router from "@koa/router";
import { NotFound } from "../../../domain/errors.ts";
import { assets, assetsVersion } from "./assets.ts";
import { contentSecurityPolicy, docsPage } from "./page.ts";

/** `GET /docs`: a page that renders `/openapi.json`, with nothing from anywhere else. */
export const docsRoutes = ({ publicUrl }: { publicUrl: string | undefined }): Router => {
  const router = new Router();
  const policy = contentSecurityPolicy(publicUrl);

  router.get("/docs", (ctx) => {
    ctx.set({
      "Content-Type": "text/html; charset=utf-8",
      "Cache-Control": "public, max-age=3600",
      "Content-Security-Policy": policy,
      "X-Content-Type-Options": "nosniff",
    });
    // Relative, for a proxy that serves the whole under a path of its own.
    ctx.body = docsPage(ctx.path.endsWith("/") ? "../" : "./", `docs/assets/${assetsVersion}`);
  });

  router.get("/docs/assets/:version/:file", async (ctx) => {
    const { version, file = "" } = ctx.params;
    const asset = version === assetsVersion ? assets.get(file) : undefined;
    if (!asset) throw new NotFound("There is no such file.");
    const content = await asset.read();
    ctx.set({
      "Content-Type": asset.contentType,
      "Cache-Control": "public, max-age=31536000, immutable",
      "X-Content-Type-Options": "nosniff",
    });
    ctx.body = content;
  });

  return router;
};
