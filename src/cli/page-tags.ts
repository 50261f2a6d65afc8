import { hash } from "node:crypto";
import type { PageScripts } from "../domain/page-scripts.ts";

/** What a page contains to load the player. */
export interface PageTags {
  /** The URL of the service for pages. */
  readonly url: string;
  /** Follows each release of the service. */
  readonly tag: string;
  /** Loads the modules of this release for ever, and nothing else. */
  readonly pinned: string;
  /** Loads one script of this release for ever, without modules. */
  readonly pinnedScript: string;
  /** What the page's Content-Security-Policy needs for the inline import map of `pinned`. */
  readonly scriptSrc: string;
}

/** `url`: of the service, without a trailing slash. */
export const pageTags = (
  url: string,
  apiKey: string,
  { hash: version, scripts }: { readonly hash: string; readonly scripts: PageScripts },
): PageTags => {
  const [base, key] = [escapeAttribute(`${url}/v/${version}`), escapeAttribute(apiKey)];
  const { "/player.js": player = "", "/voxledger.js": script = "", ...imported } = scripts;
  const integrity = Object.entries(imported).map(([path, text]) => [`${url}/v/${version}${path}`, sri(text)]);
  const importMap = JSON.stringify({ integrity: Object.fromEntries(integrity) }).replaceAll("<", "\\u003c");
  return {
    url,
    tag: `<script type="module" src="${escapeAttribute(url)}/player.js" data-api-key="${key}"></script>`,
    pinned: [
      `<script type="importmap">${importMap}</script>`,
      `<script type="module" src="${base}/player.js" integrity="${sri(player)}" crossorigin data-api-key="${key}"></script>`,
    ].join("\n"),
    pinnedScript: `<script defer src="${base}/voxledger.js" integrity="${sri(script)}" crossorigin data-api-key="${key}"></script>`,
    scriptSrc: `'sha256-${hash("sha256", importMap, "base64")}'`,
  };
};

const sri = (text: string): string => `sha384-${hash("sha384", text, "base64")}`;

const escapeAttribute = (text: string): string => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
