import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { setPriority } from "node:os";
import { basename, join, resolve } from "node:path";
import { type BuildOptions, build, type OutputFile, type Plugin, stop } from "esbuild";

/** The JSON that the program writes to its standard output. */
export interface BundledFiles {
  /**
   * The SHA-256 digest of each file that the bundles depend on, by its path from the root of the
   * project.
   */
  readonly inputs: Readonly<Record<string, string>>;
  readonly client: Readonly<Record<ClientScript, string>>;
  /** The console's scripts and style sheet, by their names. */
  readonly console: Readonly<Record<string, string>>;
  /** The files of the page that computes audio, by their names. */
  readonly reproduce: Readonly<Record<string, string>>;
}

/** The path of a script that any page can load. */
export type ClientScript = keyof typeof clientScripts;

const root = resolve(import.meta.dirname, "../../..");
const client = join(root, "src/client");
const consoleFolder = join(root, "src/console");
const reproduceFolder = join(root, "src/reproduce");

/** The entry of each module. A module imports the others at run time. */
const clientModules = {
  "/client.js": join(client, "voxledger.ts"),
  "/client-sentences.js": join(client, "sentences.ts"),
  "/client-labels.js": join(client, "labels/labels.ts"),
  "/client-languages.js": join(client, "languages.ts"),
  "/player.js": join(client, "page/player.ts"),
  "/player-features.js": join(client, "page/features.ts"),
} as const;

/** The script for pages without modules. It imports nothing. */
const clientScripts = { ...clientModules, "/voxledger.js": join(client, "package/global.ts") } as const;

const options = {
  absWorkingDir: root,
  bundle: true,
  format: "esm",
  /** Browsers with `AbortSignal.any` and `Promise.withResolvers` support this syntax. */
  target: "es2022",
  minify: true,
  charset: "utf8",
  legalComments: "none",
  write: false,
  metafile: true,
  // The project's tsconfig only concerns type checking.
  tsconfigRaw: {},
} as const satisfies BuildOptions;

/** Replaces the import of another entry with the relative URL of its script. */
const importOtherScripts: Plugin = {
  name: "import other scripts",
  setup: ({ onResolve }) => {
    onResolve({ filter: /^\./ }, ({ kind, resolveDir, path }) => {
      const imported = Object.entries(clientModules).find(([, entry]) => entry === resolve(resolveDir, path));
      return imported && kind !== "entry-point" ? { path: `.${imported[0]}`, external: true } : undefined;
    });
  },
};

/**
 * Parts of zod that nothing in the console uses, but that zod itself imports. They are half of zod.
 * English messages are imported separately.
 */
const unusedParts =
  /zod\/v4\/(locales\/index|classic\/from-json-schema|core\/(compile|to-json-schema|json-schema-\w+))\.js$/;

/** Replaces everything that these modules export with a function that does nothing. */
const withoutUnusedParts: Plugin = {
  name: "without unused parts of zod",
  setup: ({ onLoad }) => {
    onLoad({ filter: unusedParts }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      const names = [...text.matchAll(/^export (?:async )?(?:function|const|class) (\w+)/gm)].map(
        ([, name]) => name,
      );
      const exported = names.map((name) => `export const ${name} = nothing;`);
      return { contents: ["const nothing = () => nothing;", ...exported].join("\n") };
    });
  },
};

const bundleConsole = () =>
  build({
    ...options,
    entryPoints: ["main.ts", "console.css"].map((name) => ({
      in: join(consoleFolder, name),
      out: "console",
    })),
    // The console verifies exports with the service's own code. In browsers, this module replaces
    // `node:crypto`.
    alias: { "node:crypto": join(consoleFolder, "proof/node-crypto.ts") },
    plugins: [withoutUnusedParts],
    platform: "browser",
    splitting: true,
    outdir: ".", // nothing is written; esbuild needs a folder for the names
  });

const nodeGlobals = join(reproduceFolder, "node-globals.ts");

/**
 * The page that computes audio runs the service's own code, with replacements for the parts of Node
 * that this code uses.
 */
const bundleReproduce = () =>
  build({
    ...options,
    entryPoints: ["reproduce.ts", "reproduce.css"].map((name) => join(reproduceFolder, name)),
    entryNames: "[name]",
    alias: {
      "node:path": nodeGlobals,
      "node:stream": nodeGlobals,
      "node:crypto": join(consoleFolder, "proof/node-crypto.ts"),
    },
    inject: [nodeGlobals],
    define: { "process.versions.icu": '"of the browser"' },
    // Only branches of the WebAssembly runtimes for Node import these modules.
    external: ["module", "fs", "path", "url", "worker_threads"],
    platform: "browser",
    splitting: true,
    outdir: ".",
  });

const bundleClientScript = (path: ClientScript) => {
  const isModule = path !== "/voxledger.js";
  return build({
    ...options,
    entryPoints: [clientScripts[path]],
    platform: "neutral",
    format: isModule ? "esm" : "iife",
    plugins: isModule ? [importOtherScripts] : [],
    define: isModule ? {} : { "import.meta.url": "scriptUrl" },
    inject: isModule ? [] : [join(client, "package/script-url.ts")],
  });
};

/** The same sources always give the same bytes. */
const bundleAll = async (): Promise<BundledFiles> => {
  const paths = Object.keys(clientScripts) as ClientScript[];
  const [consoleFiles, reproduceFiles, scripts] = await Promise.all([
    bundleConsole(),
    bundleReproduce(),
    Promise.all(paths.map(bundleClientScript)),
  ]);
  const own = ["src/http/bundles/bundle-program.ts", "node_modules/esbuild/package.json"];
  const built = [consoleFiles, reproduceFiles, ...scripts];
  const inputs = new Set([...own, ...built.flatMap(({ metafile }) => Object.keys(metafile.inputs))]);
  const digests = Array.from(inputs, async (path) => [
    path,
    hash("sha256", await readFile(join(root, path))),
  ]);
  const texts = scripts.map(({ outputFiles: [file] }, index) => [paths[index], file?.text ?? ""]);
  return {
    inputs: Object.fromEntries(await Promise.all(digests)),
    client: Object.fromEntries(texts),
    console: filesOf(consoleFiles),
    reproduce: filesOf(reproduceFiles),
  };
};

function filesOf({ outputFiles }: { readonly outputFiles: readonly OutputFile[] }): Record<string, string> {
  return Object.fromEntries(outputFiles.map(({ path, text }) => [basename(path), text]));
}

setPriority(10); // requests come first
const bundled = await bundleAll();
await stop();
process.stdout.write(JSON.stringify(bundled));
