import { hash } from "node:crypto";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "esbuild";
import { z } from "zod";
import { anHourOrStale } from "../../caching/cache-control.ts";
import { noneMatchHits } from "../../caching/conditional.ts";
import { crossOriginResource, etag as etagHeader, ifNoneMatch, noSniff } from "../../kernel/headers.ts";
import { type Operation, operation } from "../../kernel/operation.ts";
import { bundleForBrowsers } from "./bundle.ts";

/** A module for browsers. */
export interface ClientScript {
  readonly bytes: Buffer;
  /** A strong entity tag: the same sources always give the same bytes. */
  readonly etag: string;
}

export interface ClientScripts {
  /** The client library. */
  readonly library: ClientScript;
  /** Starts the players and messages of a page. */
  readonly player: ClientScript;
  /** The players and messages, which `player` loads on demand. */
  readonly playerFeatures: ClientScript;
}

const client = fileURLToPath(new URL("../../../client/", import.meta.url));

/** The entry of each script, and its path. A script imports the others at run time. */
const scripts = {
  library: { entry: join(client, "voxledger.ts"), path: "/client.js" },
  player: { entry: join(client, "page/player.ts"), path: "/player.js" },
  playerFeatures: { entry: join(client, "page/features.ts"), path: "/player-features.js" },
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

let bundled: Promise<ClientScripts> | undefined;

/** Bundles each script into one module, once per process. */
export const bundleClient = (): Promise<ClientScripts> => {
  bundled ??= bundleAll();
  return bundled;
};

const bundleAll = async (): Promise<ClientScripts> => {
  const [library, player, playerFeatures] = await Promise.all([
    bundle(scripts.library),
    bundle(scripts.player),
    bundle(scripts.playerFeatures),
  ]);
  return { library, player, playerFeatures };
};

const bundle = async ({ entry }: Script): Promise<ClientScript> => {
  const [script] = await bundleForBrowsers({
    entryPoints: [entry],
    platform: "neutral",
    plugins: [importOtherScripts],
  });
  const bytes = Buffer.from(script?.contents ?? []);
  return { bytes, etag: `"${hash("sha256", bytes)}"` };
};

const headers = { ...etagHeader, ...crossOriginResource, ...noSniff };

/** Modules that any page can import. */
export const clientScriptOperations = ({ library, player, playerFeatures }: ClientScripts): Operation[] => [
  scriptOperation(scripts.library, library, {
    id: "loadClient",
    summary: "Get the client library, one module that any page can import",
  }),
  scriptOperation(scripts.player, player, {
    id: "loadPlayer",
    summary: "Get the module that starts the players and messages of a page",
  }),
  scriptOperation(scripts.playerFeatures, playerFeatures, {
    id: "loadPlayerFeatures",
    summary: "Get the players and messages, which the player's module loads on demand",
  }),
];

const scriptOperation = (
  { path }: Script,
  script: ClientScript,
  described: { readonly id: string; readonly summary: string },
): Operation =>
  operation({
    method: "get",
    path,
    ...described,
    tag: "Service",
    auth: "none",
    cache: [anHourOrStale],
    headers: ifNoneMatch,
    responses: {
      200: { description: "The module.", headers, content: { "text/javascript": { schema: z.string() } } },
      304: { description: "The caller has the current module.", headers },
    },
    handle: (_, ctx) => {
      ctx.set({
        ETag: script.etag,
        "Cross-Origin-Resource-Policy": "cross-origin",
        "X-Content-Type-Options": "nosniff",
      });
      if (noneMatchHits(ctx.req.headers["if-none-match"], [script.etag])) {
        ctx.status = 304;
        return;
      }
      ctx.type = "text/javascript; charset=utf-8";
      ctx.body = script.bytes;
    },
  });
