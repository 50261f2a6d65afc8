import { copyFile, mkdir, readdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import packageJson from "../package.json" with { type: "json" };
import { writeDeclarations } from "./client-types.ts";

const client = join(import.meta.dirname, "../src/client");

/** The entries of the package, by their names, `index` for the package itself. */
const entries = {
  index: "voxledger.ts",
  player: "package/player.ts",
  element: "package/element.ts",
  react: "package/react.ts",
  vue: "package/vue.ts",
} as const;

/** Packages that a project with these frameworks has. */
const external = ["react", "vue"];

const script = "voxledger.iife.js";

/**
 * `repository`: the URL of the Git repository. npm signs where a package was built only if the
 * package names the repository that publishes it, and only in a CI service.
 */
const manifestOf = (repository: string | undefined) => ({
  name: "@voxledger/client",
  version: packageJson.version,
  description: "Speech and article players from a Voxledger service, for pages and for Node",
  license: packageJson.license,
  ...(repository !== undefined && {
    repository: { type: "git", url: repository, directory: "src/client" },
    publishConfig: { access: "public", provenance: true },
  }),
  keywords: ["text-to-speech", "tts", "speech", "audio", "player", "accessibility"],
  type: "module",
  sideEffects: ["./element.js", `./${script}`],
  exports: {
    ...Object.fromEntries(
      Object.keys(entries).map((name) => [
        name === "index" ? "." : `./${name}`,
        { types: `./types/${name}.d.ts`, default: `./${name}.js` },
      ]),
    ),
    [`./${script}`]: `./${script}`,
    "./package.json": "./package.json",
  },
  unpkg: `./${script}`,
  jsdelivr: `./${script}`,
  files: ["*.js", "chunks", "types"],
  engines: { node: ">=22" },
  peerDependencies: { react: ">=18", vue: ">=3.3" },
  peerDependenciesMeta: { react: { optional: true }, vue: { optional: true } },
});

const options = {
  bundle: true,
  target: "es2022",
  charset: "utf8",
  platform: "neutral",
  // A bundle is sent by the site's own server, so its URL says nothing of the service.
  define: { "import.meta.url": "undefined" },
  tsconfigRaw: {},
  logLevel: "warning",
} as const;

const buildPackage = async (out: string, repository: string | undefined): Promise<void> => {
  await mkdir(out, { recursive: true });
  if ((await readdir(out)).length > 0) throw new Error(`${out} is not empty.`);
  await Promise.all([
    build({
      ...options,
      entryPoints: Object.entries(entries).map(([name, source]) => ({ in: join(client, source), out: name })),
      format: "esm",
      // Names stay: they are in the stack traces of applications.
      minifySyntax: true,
      minifyWhitespace: true,
      splitting: true,
      chunkNames: "chunks/[name]-[hash]",
      external: [...external],
      outdir: out,
    }),
    build({
      ...options,
      entryPoints: [join(client, "package/global.ts")],
      format: "iife",
      minify: true,
      outfile: join(out, script),
    }),
    copyFile(join(client, "package/README.md"), join(out, "README.md")),
    copyFile(join(client, "../../LICENSE"), join(out, "LICENSE")),
    writeFile(join(out, "package.json"), `${JSON.stringify(manifestOf(repository), null, 2)}\n`),
  ]);
  await writeDeclarations(join(out, "types"), entries, external);
};

const [out, repository, ...more] = process.argv.slice(2);
if (out === undefined || more.length > 0) {
  console.error("usage: scripts/client-package OUT [REPOSITORY]");
  process.exitCode = 2;
} else {
  await buildPackage(resolve(out), repository);
}
