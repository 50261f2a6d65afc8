import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename, extname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "esbuild";
import { lazy } from "../../../async/lazy.ts";
import { taggedContent } from "../../caching/tagged-content.ts";
import { bundleForBrowsers } from "../docs/bundle.ts";
import type { PageFile } from "../docs/page.ts";

/** The console's scripts and style sheet. */
interface ConsoleFiles {
  /** A part of the files' URLs, so that caches can store them forever. */
  readonly version: string;
  /** By name. `console.js` and what it imports is loaded with the page, the other scripts with the screens that need them. */
  readonly files: ReadonlyMap<string, PageFile>;
}

const folder = new URL("../../../console/", import.meta.url);
const pathOf = (name: string): string => fileURLToPath(new URL(name, folder));
const entryPoints = ["main.ts", "console.css"].map((name) => ({ in: pathOf(name), out: "console" }));

/** The rules of a verification are those of the service, with hashes for browsers. */
const alias = { "node:crypto": pathOf("proof/node-crypto.ts") };

/**
 * Parts of zod that nothing in the console uses, but that zod itself imports: half of its size. English messages are imported by
 * themselves.
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

const types: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
};

/** Bundles the console, once per process. */
export const bundleConsole = lazy(async (): Promise<ConsoleFiles> => {
  // The files are not written; esbuild needs a folder for their names.
  const built = await bundleForBrowsers({
    entryPoints,
    alias,
    plugins: [withoutUnusedParts],
    platform: "browser",
    splitting: true,
    outdir: ".",
  });
  const files = new Map(
    built.map(({ path, contents }) => [
      basename(path),
      { type: types[extname(path)] ?? "", content: taggedContent(Buffer.from(contents)) },
    ]),
  );
  const contents = [...files.values()].map(({ content }) => content.body);
  return { version: hash("sha256", Buffer.concat(contents)).slice(0, 16), files };
});
