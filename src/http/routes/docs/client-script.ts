import { hash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { build, stop } from "esbuild";
import { z } from "zod";
import { anHourOrStale } from "../../caching/cache-control.ts";
import { noneMatchHits } from "../../caching/conditional.ts";
import { crossOriginResource, etag as etagHeader, ifNoneMatch, noSniff } from "../../kernel/headers.ts";
import { type Operation, operation } from "../../kernel/operation.ts";

/** The client library for browsers. */
export interface ClientScript {
  readonly bytes: Buffer;
  /** A strong entity tag: the same sources always give the same bytes. */
  readonly etag: string;
}

const entry = fileURLToPath(new URL("../../../client/voxledger.ts", import.meta.url));

/** Browsers with `AbortSignal.any` and `Promise.withResolvers` support this syntax. */
const target = "es2022";

let bundled: Promise<ClientScript> | undefined;

/**
 * Bundles the library into one module when the service starts, because the project has no build step. Runs once per
 * process: stopping esbuild stops it for every caller.
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
    // The project's tsconfig only concerns type checking.
    tsconfigRaw: {},
  });
  await stop(); // otherwise esbuild's process runs as long as the service
  const bytes = Buffer.from(outputFiles[0]?.contents ?? []);
  return { bytes, etag: `"${hash("sha256", bytes)}"` };
};

const headers = { ...etagHeader, ...crossOriginResource, ...noSniff };

/** `/client.js`: the client library, one module that any page can import. */
export const clientScriptOperation = ({ bytes, etag }: ClientScript): Operation =>
  operation({
    method: "get",
    path: "/client.js",
    id: "loadClient",
    tag: "Service",
    summary: "Get the client library, one module that any page can import",
    auth: "none",
    cache: [anHourOrStale],
    headers: ifNoneMatch,
    responses: {
      200: { description: "The module.", headers, content: { "text/javascript": { schema: z.string() } } },
      304: { description: "The caller has the current module.", headers },
    },
    handle: (_, ctx) => {
      ctx.set({
        ETag: etag,
        "Cross-Origin-Resource-Policy": "cross-origin",
        "X-Content-Type-Options": "nosniff",
      });
      if (noneMatchHits(ctx.req.headers["if-none-match"], [etag])) {
        ctx.status = 304;
        return;
      }
      ctx.type = "text/javascript; charset=utf-8";
      ctx.body = bytes;
    },
  });
