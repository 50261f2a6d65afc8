import { z } from "zod";
import type { Gallery, GalleryVoice } from "../../../application/gallery/gallery.ts";
import { Unavailable } from "../../../domain/errors.ts";
import { revalidate } from "../../caching/cache-control.ts";
import { contentSecurityPolicy, etag, ifNoneMatch, noSniff, vary } from "../../kernel/headers.ts";
import { namedSchema } from "../../kernel/named-schema.ts";
import { json, type Operation, serviceOperation } from "../../kernel/operation.ts";
import { publicPathOf } from "../../kernel/public-url.ts";
import { respondTagged, taggedContent, taggedJson } from "../../kernel/tagged-content.ts";
import { landingPage, landingPolicy, links } from "./landing-page.ts";

const link = z.object({ href: z.string() });
const ServiceLinks = namedSchema("ServiceLinks", {
  name: z.literal("Voxledger"),
  _links: z.object({
    /** It is absent if the gallery is switched off. */
    voices: link.optional(),
    reproduce: link,
    docs: link,
    openapi: link,
    health: link,
    console: link,
    client: link,
  }),
});

const headers = {
  ...etag,
  ...vary,
  ...noSniff,
  "Content-Security-Policy": contentSecurityPolicy["Content-Security-Policy"].optional(),
};

interface RootOptions {
  readonly settings: { readonly publicUrl: string | undefined };
  /** It is undefined if the gallery is switched off. */
  readonly gallery: Pick<Gallery, "voices"> | undefined;
}

const noVoices: readonly GalleryVoice[] = [];

/** Lists no voices while the catalog cannot be read: the page then has a field for a name. */
const voicesOf = async (gallery: Pick<Gallery, "voices"> | undefined): Promise<readonly GalleryVoice[]> => {
  try {
    return (await gallery?.voices()) ?? noVoices;
  } catch (error) {
    if (error instanceof Unavailable) return noVoices;
    throw error;
  }
};

/** `/`: a page for people, and the same links as JSON for programs. Neither needs credentials. */
export const rootOperation = ({ settings: { publicUrl }, gallery }: RootOptions): Operation => {
  // Without PUBLIC_URL the links are relative, so that they also work behind a proxy that adds a
  // path prefix.
  const base = publicUrl === undefined ? "" : `${publicPathOf(publicUrl)}/`;
  const { voices: toGallery, ...others } = links;
  const shown = gallery ? { voices: toGallery, ...others } : others;
  /** The page that shows the latest list of voices. */
  let page: { readonly voices: readonly GalleryVoice[]; readonly html: string } | undefined;
  const currentPage = async (): Promise<string> => {
    const voices = await voicesOf(gallery);
    if (page?.voices !== voices) page = { voices, html: landingPage({ base, links: shown, voices }) };
    return page.html;
  };
  const _links = Object.fromEntries(
    Object.entries(shown).map(([name, { path }]) => [name, { href: `${base}${path}` }]),
  );
  const document = taggedJson({ name: "Voxledger", _links });
  return serviceOperation({
    path: "/",
    id: "readRoot",
    summary: "Find the documentation and the health of the service",
    description: "A page for clients that accept `text/html`, such as browsers; JSON for all others.",
    // The page lists the voices, which an operator may change.
    cache: [revalidate],
    headers: ifNoneMatch,
    responses: {
      200: {
        description: "The links, as a page or as JSON.",
        headers,
        content: { "text/html": { schema: z.string() }, ...json(ServiceLinks) },
      },
      304: { description: "The caller has the current page.", headers },
    },
    handle: async (_, ctx) => {
      ctx.set("X-Content-Type-Options", "nosniff");
      ctx.vary("Accept");
      // The first type listed is sent to clients without a preference.
      if (ctx.accepts("json", "html") !== "html") {
        return respondTagged(ctx, document);
      }
      const page = taggedContent(Buffer.from(await currentPage()));
      ctx.set("Content-Security-Policy", landingPolicy);
      respondTagged(ctx, page, "text/html; charset=utf-8");
    },
  });
};
