import { hash } from "node:crypto";
import { fileURLToPath } from "node:url";
import Router from "@koa/router";
import { build, stop } from "esbuild";
import { noneMatchHits } from "../../caching/conditional.ts";

/** The client library as browsers take it. */
export interface ClientScript {
  readonly bytes: Buffer;
  /** Strong: the same sources always give the same bytes. */
  readonly etag: string;
}

const entry = fileURLToPath(new URL("../../../client/voxledger.ts", import.meta.url));

/** Browsers that have `AbortSignal.any` and `Promise.withResolvers` have this syntax. */
const target = "es2022";

let bundled: Promise<ClientScript> | undefined;

/**
 * One module of all the library's files, made at the start: there is no build to run before. Made once in a process, for
 * to stop the bundler is to stop it for everybody.
 */
export const bundleClient = (): Promise<ClientScript> => {
  bundled ??= bundle();
  return bundled;
};

const bundle = async (): Promise<ClientScript> => {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    format: "esm",
    platform: "neutral",
    target,
    minify: true,
    charset: "utf8",
    legalComments: "none",
    write: false,
    // The service's own tsconfig asks for nothing that a bundler could need.
    tsconfigRaw: {},
  });
  await stop(); // the bundler's process would stay for as long as the service
  const bytes = Buffer.from(outputFiles[0]?.contents ?? []);
  return { bytes, etag: `"${hash("sha256", bytes)}"` };
};

/** Pages take a new release within the hour. */
const lifetime = "public, max-age=3600, stale-while-revalidate=86400";

/** `GET /client.js`: the client library, one module for any page to import, without credentials. */
export const clientScriptRoutes = ({ bytes, etag }: ClientScript): Router => {
  const router = new Router();
  router.get("/client.js", (ctx) => {
    ctx.set({
      ETag: etag,
      "Cache-Control": lifetime,
      "Cross-Origin-Resource-Policy": "cross-origin",
      "X-Content-Type-Options": "nosniff",
    });
    if (noneMatchHits(ctx.req.headers["if-none-match"], [etag])) {
      ctx.status = 304;
      return;
    }
    ctx.type = "text/javascript; charset=utf-8";
    ctx.body = bytes;
  });
  return router;
};
