import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { lazy } from "../../../async/lazy.ts";
import { taggedContent } from "../../kernel/tagged-content.ts";
import type { PageFile } from "./page.ts";

const require = createRequire(import.meta.url);
const types = { js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8", png: "image/png" };

/** The file is read at the first request, and then kept in memory. */
type Asset = () => Promise<PageFile>;

const asset = (path: string, type: keyof typeof types): Asset =>
  lazy(async () => ({ type: types[type], content: taggedContent(await readFile(path)) }));

const swaggerUi = (name: string, type: keyof typeof types): [string, Asset] => [
  name,
  asset(require.resolve(`swagger-ui-dist/${name}`), type),
];
/** The pages' own files. */
const own = ["start.js", "landing.js", "landing.css"] as const;
const ownPath = (name: string): string => require.resolve(`./${name}`);

/** The files of the documentation page and of the landing page, by their names. */
export const assets: ReadonlyMap<string, Asset> = new Map([
  swaggerUi("swagger-ui-bundle.js", "js"),
  swaggerUi("swagger-ui.css", "css"),
  swaggerUi("favicon-32x32.png", "png"),
  ...own.map((name): [string, Asset] => [name, asset(ownPath(name), name.endsWith(".js") ? "js" : "css")]),
]);

/** A part of the files' URLs, so that caches can store them forever. */
export const assetsVersion = hash(
  "sha256",
  [
    require("swagger-ui-dist/package.json").version,
    ...own.map((name) => readFileSync(ownPath(name), "utf8")),
  ].join("\n"),
).slice(0, 16);
