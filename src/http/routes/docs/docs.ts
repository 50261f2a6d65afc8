import { z } from "zod";
import { NotFound } from "../../../domain/errors.ts";
import { anHour, immutable } from "../../caching/cache-control.ts";
import { replyPublic } from "../../caching/tagged-content.ts";
import { contentSecurityPolicy, etag, ifNoneMatch, noSniff } from "../../kernel/headers.ts";
import { type Operation, operation, pathParams } from "../../kernel/operation.ts";
import { assets, assetsVersion } from "./assets.ts";

/** `base`: the relative path from the page to the root of the service; `assets`: the path of its files. */
const docsPage = (base: string, assets: string): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Voxledger API</title>
    <link rel="stylesheet" href="${base}${assets}/swagger-ui.css">
    <link rel="icon" type="image/png" sizes="32x32" href="${base}${assets}/favicon-32x32.png">
  </head>
  <body>
    <div id="description" data-url="${base}openapi.json"></div>
    <script src="${base}${assets}/swagger-ui-bundle.js"></script>
    <script src="${base}${assets}/start.js"></script>
  </body>
</html>
`;

/** Nothing from other origins, nothing inline, no framing. "Try it out" connects to the server in the OpenAPI document. */
const docsPolicy = (publicUrl: string | undefined): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src 'self'${publicUrl ? ` ${new URL(publicUrl).origin}` : ""}`,
    "media-src 'self' blob:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");

/** `/docs`: a self-contained page that renders `/openapi.json`. */
export const docsOperations = ({ publicUrl }: { publicUrl: string | undefined }): Operation[] => [
  readDocs(publicUrl),
  readDocsAsset,
];

const readDocs = (publicUrl: string | undefined): Operation =>
  operation({
    method: "get",
    path: "/docs",
    id: "readDocs",
    tag: "Service",
    summary: "Browse the API documentation",
    auth: "none",
    cors: "same origin",
    cache: [anHour],
    responses: {
      200: {
        description: "The page.",
        headers: { ...contentSecurityPolicy, ...noSniff },
        content: { "text/html": { schema: z.string() } },
      },
    },
    handle: (_, ctx) => {
      ctx.set({
        "Content-Type": "text/html; charset=utf-8",
        "Content-Security-Policy": docsPolicy(publicUrl),
        "X-Content-Type-Options": "nosniff",
      });
      // Relative URLs also work behind a proxy that adds a path prefix.
      return docsPage(ctx.path.endsWith("/") ? "../" : "./", `docs/assets/${assetsVersion}`);
    },
  });

const readDocsAsset: Operation = operation({
  method: "get",
  path: "/docs/assets/{version}/{file}",
  id: "readDocsAsset",
  tag: "Service",
  summary: "Get a file of the documentation page",
  auth: "none",
  cors: "same origin",
  cache: [immutable],
  headers: ifNoneMatch,
  params: pathParams({
    version: z.string().meta({ description: "The version of the renderer.", examples: ["5.35.0"] }),
    file: z.string().meta({ description: "The name of the file.", examples: ["swagger-ui.css"] }),
  }),
  responses: {
    200: {
      description: "The file.",
      headers: { ...etag, ...noSniff },
      content: {
        "text/javascript": { schema: z.string() },
        "text/css": { schema: z.string() },
        "image/png": {},
      },
    },
    304: { description: "The caller has the file.", headers: { ...etag, ...noSniff } },
  },
  errors: [404],
  handle: async ({ params: { version, file } }, ctx) => {
    const asset = version === assetsVersion ? assets.get(file) : undefined;
    if (!asset) throw new NotFound("There is no such file.");
    ctx.set("X-Content-Type-Options", "nosniff");
    replyPublic(ctx, await asset.read(), asset.contentType);
  },
});
