import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

/** One file of the page. */
export interface Asset {
  readonly contentType: string;
  readonly read: () => Promise<Buffer>;
}

const require = createRequire(import.meta.url);
const types = { js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8", png: "image/png" };

/** Read when first asked for, then kept: there are few, and they do not change. */
const asset = (path: string, type: keyof typeof types): Asset => {
  let content: Promise<Buffer> | undefined;
  return {
    contentType: types[type],
    read: async () => {
      content ??= readFile(path);
      try {
        return await content;
      } catch (error) {
        content = undefined; // out of file descriptors, perhaps: another time it may be there
        throw error;
      }
    },
  };
};

const ofRenderer = (name: string, type: keyof typeof types): [string, Asset] => [
  name,
  asset(require.resolve(`swagger-ui-dist/${name}`), type),
];
const start = require.resolve("./start.js");

/** All that may be asked for, by its name. */
export const assets: ReadonlyMap<string, Asset> = new Map([
  ofRenderer("swagger-ui-bundle.js", "js"),
  ofRenderer("swagger-ui.css", "css"),
  ofRenderer("favicon-32x32.png", "png"),
  ["start.js", asset(start, "js")],
]);

/** Part of the files' addresses, so that they can be kept for ever. */
export const assetsVersion = hash(
  "sha256",
  `${require("swagger-ui-dist/package.json").version}\n${readFileSync(start, "utf8")}`,
).slice(0, 16);
