import { z } from "zod";
import { anHour, revalidate } from "../../caching/cache-control.ts";
import { contentSecurityPolicy, etag, ifNoneMatch, noSniff } from "../../kernel/headers.ts";
import { json, type Operation, serviceOperation } from "../../kernel/operation.ts";
import { respondTagged, type TaggedContent } from "../../kernel/tagged-content.ts";
import { assets, assetsVersion } from "./assets.ts";
import { pageFileOperation, pagePolicy, pathToRoot } from "./page.ts";

/**
 * `base`: the relative path from the page to the root of the service; `assets`: the path of its
 * files.
 */
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

interface DocsOptions {
  readonly settings: { readonly publicUrl: string | undefined };
}

/** `/docs`: a self-contained page that renders `/openapi.json`. */
export const docsOperations = ({ settings: { publicUrl } }: DocsOptions): Operation[] => [
  readDocs(publicUrl && new URL(publicUrl).origin),
  readDocsAsset,
];

/** "Try it out" connects to the server in the OpenAPI document. */
const readDocs = (apiOrigin: string | undefined): Operation =>
  serviceOperation({
    path: "/docs",
    id: "readDocs",
    summary: "Browse the API documentation",
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
        "Content-Security-Policy": pagePolicy(apiOrigin),
        "X-Content-Type-Options": "nosniff",
      });
      return docsPage(pathToRoot(ctx), `docs/assets/${assetsVersion}`);
    },
  });

const readDocsAsset = pageFileOperation({
  path: "/docs/assets/{version}/{file}",
  id: "readDocsAsset",
  summary: "Get a file of the documentation page",
  parameters: {
    version: z.string().meta({ description: "The version of the renderer.", examples: ["5.35.0"] }),
    file: z.string().meta({ description: "The name of the file.", examples: ["swagger-ui.css"] }),
  },
  content: {
    "text/javascript": { schema: z.string() },
    "text/css": { schema: z.string() },
    "image/png": {},
  },
  find: async (version, file) => (version === assetsVersion ? await assets.get(file)?.() : undefined),
});

/** `/openapi.json`. The document contains this operation too, so it is passed as a function. */
export const openApiOperation = ({
  document,
}: {
  readonly document: () => Promise<TaggedContent>;
}): Operation =>
  serviceOperation({
    path: "/openapi.json",
    id: "describe",
    summary: "Get this OpenAPI document",
    cache: [revalidate],
    headers: ifNoneMatch,
    responses: {
      200: {
        description: "The OpenAPI 3.1 document of the API.",
        headers: etag,
        content: json(z.looseObject({ openapi: z.string(), info: z.looseObject({}) })),
      },
      304: { description: "The caller has the current document.", headers: etag },
    },
    handle: async (_, ctx) => respondTagged(ctx, await document(), "application/json"),
  });
