import { z } from "zod";
import { anHour } from "../../caching/cache-control.ts";
import { contentSecurityPolicy, noSniff, vary } from "../../kernel/headers.ts";
import { namedSchema } from "../../kernel/named-schema.ts";
import { json, type Operation, serviceOperation } from "../../kernel/operation.ts";
import { publicPathOf } from "../../kernel/public-url.ts";
import { landingPage, landingPolicy, links } from "./landing-page.ts";

const link = z.object({ href: z.string() });
const ServiceLinks = namedSchema("ServiceLinks", {
  name: z.literal("Voxledger"),
  _links: z.object({ docs: link, openapi: link, health: link, console: link, client: link }),
});

interface RootOptions {
  readonly settings: { readonly publicUrl: string | undefined };
}

/** `/`: a page for people, the same links as JSON for programs. Neither needs credentials. */
export const rootOperation = ({ settings: { publicUrl } }: RootOptions): Operation => {
  // Relative without PUBLIC_URL, so that the links also work behind a proxy that adds a path prefix.
  const base = publicUrl === undefined ? "" : `${publicPathOf(publicUrl)}/`;
  const html = landingPage(base);
  const _links = Object.fromEntries(
    Object.entries(links).map(([name, { path }]) => [name, { href: `${base}${path}` }]),
  );
  return serviceOperation({
    path: "/",
    id: "readRoot",
    summary: "Find the documentation and the health of the service",
    description: "A page for clients that accept `text/html`, such as browsers; JSON for all others.",
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
      ctx.set({ "Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": landingPolicy });
      return html;
    },
  });
};
