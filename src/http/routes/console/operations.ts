import { z } from "zod";
import { NotFound } from "../../../domain/errors.ts";
import { immutable, revalidate } from "../../caching/cache-control.ts";
import { replyPublic, taggedContent } from "../../caching/tagged-content.ts";
import { contentSecurityPolicy, etag, ifNoneMatch, noSniff } from "../../kernel/headers.ts";
import { type Operation, operation, pathParams } from "../../kernel/operation.ts";
import { bundleConsole } from "./bundle.ts";

/** `base`: the relative path from the page to the root of the service; `assets`: the path of its files. */
const consolePage = (base: string, assets: string): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="referrer" content="no-referrer">
    <title>Voxledger console</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="${base}${assets}/console.css">
    <script type="module" src="${base}${assets}/console.js"></script>
  </head>
  <body>
    <div id="console" data-base="${base}"><noscript>The console needs JavaScript.</noscript></div>
  </body>
</html>
`;

/** Nothing from other origins, nothing inline, no framing. Sounds are played from memory. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "media-src 'self' blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** `/console`: the page for operators and auditors. It has no data: its script asks the admin API with the person's token. */
export const consoleOperations = (): Operation[] => [openConsole, readConsoleAsset];

const openConsole = operation({
  method: "get",
  path: "/console",
  id: "openConsole",
  tag: "Service",
  summary: "Open the console for operators and auditors",
  auth: "none",
  cors: "same origin",
  cache: [revalidate],
  headers: ifNoneMatch,
  responses: {
    200: {
      description: "The page. It asks for a token of ADMIN_TOKEN or AUDITOR_TOKEN.",
      headers: { ...etag, ...contentSecurityPolicy, ...noSniff },
      content: { "text/html": { schema: z.string() } },
    },
    304: {
      description: "The caller has the current page.",
      headers: { ...etag, ...contentSecurityPolicy, ...noSniff },
    },
  },
  handle: async (_, ctx) => {
    const { version } = await bundleConsole();
    // Relative URLs also work behind a proxy that adds a path prefix.
    const base = ctx.path.endsWith("/") ? "../" : "./";
    ctx.set({
      "Content-Security-Policy": policy,
      "X-Content-Type-Options": "nosniff",
    });
    const page = taggedContent(Buffer.from(consolePage(base, `console/assets/${version}`)));
    replyPublic(ctx, page, "text/html; charset=utf-8");
  },
});

const readConsoleAsset = operation({
  method: "get",
  path: "/console/assets/{version}/{file}",
  id: "readConsoleAsset",
  tag: "Service",
  summary: "Get a file of the console",
  auth: "none",
  cors: "same origin",
  cache: [immutable],
  headers: ifNoneMatch,
  params: pathParams({
    version: z.string().meta({ description: "The version of the console.", examples: ["2b1f0c9d8e7a6b5c"] }),
    file: z.string().meta({ description: "The name of the file.", examples: ["console.js"] }),
  }),
  responses: {
    200: {
      description: "The file.",
      headers: { ...etag, ...noSniff },
      content: { "text/javascript": { schema: z.string() }, "text/css": { schema: z.string() } },
    },
    304: { description: "The caller has the file.", headers: { ...etag, ...noSniff } },
  },
  errors: [404],
  handle: async ({ params }, ctx) => {
    const { version, files } = await bundleConsole();
    const file = params.version === version ? files.get(params.file) : undefined;
    if (!file) throw new NotFound("There is no such file.");
    ctx.set("X-Content-Type-Options", "nosniff");
    replyPublic(ctx, file.content, file.type);
  },
});
