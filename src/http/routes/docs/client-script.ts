import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "esbuild";
import { z } from "zod";
import { lazy } from "../../../async/lazy.ts";
import { anHourOrStale } from "../../caching/cache-control.ts";
import { replyPublic, type TaggedContent, taggedContent } from "../../caching/tagged-content.ts";
import { crossOriginResource, etag as etagHeader, ifNoneMatch, noSniff } from "../../kernel/headers.ts";
import { type Operation, serviceOperation } from "../../kernel/operation.ts";
import { bundleForBrowsers } from "./bundle.ts";

const client = fileURLToPath(new URL("../../../client/", import.meta.url));

/** The entry of each script, and how it is served. A script imports the others at run time. */
const scripts = {
  library: {
    entry: join(client, "voxledger.ts"),
    path: "/client.js",
    id: "loadClient",
    summary: "Get the client library, one module that any page can import",
  },
  player: {
    entry: join(client, "page/player.ts"),
    path: "/player.js",
    id: "loadPlayer",
    summary: "Get the module that starts the players and messages of a page",
  },
  playerFeatures: {
    entry: join(client, "page/features.ts"),
    path: "/player-features.js",
    id: "loadPlayerFeatures",
    summary: "Get the players and messages, which the player's module loads on demand",
  },
} as const;

type Script = (typeof scripts)[keyof typeof scripts];

/** Replaces imports of other entries with their paths beside the script. */
const importOtherScripts: Plugin = {
  name: "import other scripts",
  setup: ({ onResolve }) => {
    onResolve({ filter: /^\./ }, ({ kind, resolveDir, path }) => {
      const imported = Object.values(scripts).find(({ entry }) => entry === resolve(resolveDir, path));
      return imported && kind !== "entry-point" ? { path: `.${imported.path}`, external: true } : undefined;
    });
  },
};

const bundle = ({ entry }: Script): (() => Promise<TaggedContent>) =>
  lazy(async () => {
    const [script] = await bundleForBrowsers({
      entryPoints: [entry],
      platform: "neutral",
      plugins: [importOtherScripts],
    });
    return taggedContent(Buffer.from(script?.contents ?? []));
  });

/** Bundles a script into one module, once per process. */
export const clientScripts = {
  library: bundle(scripts.library),
  player: bundle(scripts.player),
  playerFeatures: bundle(scripts.playerFeatures),
};

const headers = { ...etagHeader, ...crossOriginResource, ...noSniff };

/** Modules that any page can import. */
export const clientScriptOperations = (): Operation[] =>
  (Object.keys(scripts) as (keyof typeof scripts)[]).map(scriptOperation);

const scriptOperation = (script: keyof typeof scripts): Operation => {
  const { entry: _, ...declared } = scripts[script];
  return serviceOperation({
    ...declared,
    cache: [anHourOrStale],
    headers: ifNoneMatch,
    responses: {
      200: { description: "The module.", headers, content: { "text/javascript": { schema: z.string() } } },
      304: { description: "The caller has the current module.", headers },
    },
    handle: async (_, ctx) => {
      ctx.set({ "Cross-Origin-Resource-Policy": "cross-origin", "X-Content-Type-Options": "nosniff" });
      replyPublic(ctx, await clientScripts[script](), "text/javascript; charset=utf-8");
    },
  });
};
