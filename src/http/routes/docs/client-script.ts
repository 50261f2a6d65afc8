import { z } from "zod";
import type { ClientScript } from "../../bundles/bundle-program.ts";
import type { BundleLoader } from "../../bundles/bundles.ts";
import { anHourOrStale } from "../../caching/cache-control.ts";
import { crossOriginResource, etag as etagHeader, ifNoneMatch, noSniff } from "../../kernel/headers.ts";
import { type Operation, serviceOperation } from "../../kernel/operation.ts";
import { respondTagged } from "../../kernel/tagged-content.ts";

interface Script {
  readonly path: ClientScript;
  readonly id: string;
  readonly summary: string;
}

const scripts: readonly Script[] = [
  {
    path: "/client.js",
    id: "loadClient",
    summary: "Get the client library, one module that any page can import",
  },
  {
    path: "/client-sentences.js",
    id: "loadClientSentences",
    summary: "Get the rules of sentences, which the client library loads with the first long text",
  },
  {
    path: "/client-languages.js",
    id: "loadClientLanguages",
    summary:
      "Get the words of languages, which the client library loads with the first text that may be foreign",
  },
  {
    path: "/player.js",
    id: "loadPlayer",
    summary: "Get the module that starts the players and messages of a page",
  },
  {
    path: "/player-features.js",
    id: "loadPlayerFeatures",
    summary: "Get the players and messages, which the player's module loads on demand",
  },
];

const headers = { ...etagHeader, ...crossOriginResource, ...noSniff };

/** Modules that any page can import. */
export const clientScriptOperations = ({ bundles }: Pick<BundleLoader, "bundles">): Operation[] =>
  scripts.map((script) =>
    serviceOperation({
      ...script,
      cache: [anHourOrStale],
      headers: ifNoneMatch,
      responses: {
        200: { description: "The module.", headers, content: { "text/javascript": { schema: z.string() } } },
        304: { description: "The caller has the current module.", headers },
      },
      errors: [503],
      handle: async (_, ctx) => {
        const { client } = await bundles();
        ctx.set({ "Cross-Origin-Resource-Policy": "cross-origin", "X-Content-Type-Options": "nosniff" });
        respondTagged(ctx, client[script.path], "text/javascript; charset=utf-8");
      },
    }),
  );
