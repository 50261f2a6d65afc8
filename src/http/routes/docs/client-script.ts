import type { Context } from "koa";
import { z } from "zod";
import type { FindPinnedScripts } from "../../../application/page-scripts.ts";
import { NotFound } from "../../../domain/errors.ts";
import type { ClientScript } from "../../bundles/bundle-program.ts";
import type { BundleLoader } from "../../bundles/bundles.ts";
import { anHourOrStale, immutable } from "../../caching/cache-control.ts";
import { crossOriginResource, etag as etagHeader, ifNoneMatch, noSniff } from "../../kernel/headers.ts";
import { type Operation, pathParams, serviceOperation } from "../../kernel/operation.ts";
import { respondTagged, type TaggedContent, taggedContent } from "../../kernel/tagged-content.ts";

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
    path: "/client-labels.js",
    id: "loadClientLabels",
    summary: "Get the labels of the client library and the players in other languages than English",
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
  {
    path: "/voxledger.js",
    id: "loadScript",
    summary: "Get the library and the players as one script, for pages without modules",
  },
];

const exampleHash = "57998f6423236dea25cd572a73b13f371e64155840e31b571eba7fca0b521b7e";

const headers = { ...etagHeader, ...crossOriginResource, ...noSniff };

const responses = {
  200: { description: "The script.", headers, content: { "text/javascript": { schema: z.string() } } },
  304: { description: "The caller has the current script.", headers },
};

const respond = (ctx: Context, script: TaggedContent): void => {
  ctx.set({ "Cross-Origin-Resource-Policy": "cross-origin", "X-Content-Type-Options": "nosniff" });
  respondTagged(ctx, script, "text/javascript; charset=utf-8");
};

interface ClientScriptOptions extends Pick<BundleLoader, "bundles"> {
  readonly findPinnedScripts: FindPinnedScripts;
}

/** Scripts that any page can load. */
export const clientScriptOperations = ({ bundles, findPinnedScripts }: ClientScriptOptions): Operation[] => [
  ...scripts.map((script) =>
    serviceOperation({
      ...script,
      cache: [anHourOrStale],
      headers: ifNoneMatch,
      responses,
      errors: [503],
      handle: async (_, ctx) => {
        const { client } = await bundles();
        respond(ctx, client[script.path]);
      },
    }),
  ),
  serviceOperation({
    path: "/v/{hash}/{file}",
    id: "loadPinnedScript",
    summary: "Get one of these scripts at a permanent address",
    description:
      "The addresses of this release, and those that `voxledger website tag` has printed for earlier ones. Each script imports the others of the same release.",
    cache: [immutable],
    headers: ifNoneMatch,
    params: pathParams({
      hash: z
        .string()
        .meta({ description: "The hash of all scripts of a release.", examples: [exampleHash] }),
      file: z.string().meta({ description: "The name of the script.", examples: ["player.js"] }),
    }),
    responses,
    errors: [404, 503],
    handle: async ({ params: { hash, file } }, ctx) => {
      const { client, pageScriptsHash } = await bundles();
      const isCurrent = hash === pageScriptsHash;
      const found: Readonly<Record<string, TaggedContent | string>> | undefined = isCurrent
        ? client
        : await findPinnedScripts(hash);
      const path = `/${file}`;
      const script = found && Object.hasOwn(found, path) ? found[path] : undefined;
      if (script === undefined) throw new NotFound("There is no such script.");
      respond(ctx, typeof script === "string" ? taggedContent(Buffer.from(script)) : script);
    },
  }),
];
