import { hash } from "node:crypto";
import { z } from "zod";
import { anHour } from "../../caching/cache-control.ts";
import { contentSecurityPolicy, noSniff, vary } from "../../kernel/headers.ts";
import { namedSchema } from "../../kernel/named-schema.ts";
import { json, type Operation, operation } from "../../kernel/operation.ts";
import { publicPathOf } from "../../kernel/public-url.ts";

const summary = "A self-hosted text-to-speech service: text in, audio out.";

const links = {
  docs: { path: "docs", text: "API documentation" },
  openapi: { path: "openapi.json", text: "OpenAPI document" },
  health: { path: "health", text: "Health of the service" },
  client: { path: "client.js", text: "Client library for browsers" },
} as const;

const style = `
:root { color-scheme: light dark; }
body { font: 1rem/1.6 system-ui, sans-serif; max-width: 38rem; margin: 12vh auto; padding: 0 1.5rem; }
h1 { font-size: 1.75rem; margin: 0; }
ul { list-style: none; padding: 0; margin: 2rem 0; }
li { border-top: 1px solid color-mix(in srgb, currentColor 20%, transparent); padding: .6rem 0; }
li:last-child { border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent); }
code { float: right; opacity: .7; }
`;

const page = (base: string): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Voxledger</title>
    <meta name="description" content="${summary}">
    <link rel="icon" href="data:,">
    <style>${style}</style>
  </head>
  <body>
    <main>
      <h1>Voxledger</h1>
      <p>${summary}</p>
      <ul>
${Object.values(links)
  .map(({ path, text }) => `        <li><a href="${base}${path}">${text}</a> <code>/${path}</code></li>`)
  .join("\n")}
      </ul>
      <p>The documentation shows how to authenticate and synthesize a text.</p>
    </main>
  </body>
</html>
`;

/** Nothing but the page's own style sheet. */
const policy = [
  "default-src 'none'",
  `style-src 'sha256-${hash("sha256", style, "base64")}'`,
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const link = z.object({ href: z.string() });
const ServiceLinks = namedSchema("ServiceLinks", {
  name: z.literal("Voxledger"),
  _links: z.object({ docs: link, openapi: link, health: link, client: link }),
});

/** `/`: a page for people, the same links as JSON for programs. Neither needs credentials. */
export const rootOperation = ({ publicUrl }: { publicUrl: string | undefined }): Operation => {
  // Relative without PUBLIC_URL, so that the links also work behind a proxy that adds a path prefix.
  const base = publicUrl === undefined ? "" : `${publicPathOf(publicUrl)}/`;
  const html = page(base);
  const _links = Object.fromEntries(
    Object.entries(links).map(([name, { path }]) => [name, { href: `${base}${path}` }]),
  );
  return operation({
    method: "get",
    path: "/",
    id: "readRoot",
    tag: "Service",
    summary: "Find the documentation and the health of the service",
    description: "A page for clients that accept `text/html`, such as browsers; JSON for all others.",
    auth: "none",
    cache: [anHour],
    responses: {
      200: {
        description: "The links, as a page or as JSON.",
        headers: {
          ...vary,
          ...noSniff,
          "Content-Security-Policy": contentSecurityPolicy["Content-Security-Policy"].optional(),
        },
        content: { "text/html": { schema: z.string() }, ...json(ServiceLinks) },
      },
    },
    handle: (_, ctx) => {
      ctx.set("X-Content-Type-Options", "nosniff");
      ctx.vary("Accept");
      // The first type listed is sent to clients without a preference.
      if (ctx.accepts("json", "html") !== "html") return { name: "Voxledger", _links };
      ctx.set({ "Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": policy });
      return html;
    },
  });
};
