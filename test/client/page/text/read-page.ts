import { join } from "node:path";
import { build } from "esbuild";
import type { Page } from "playwright-core";
import { lazy } from "../../../../src/async/lazy.ts";
import { completeConfig, type StoredConfig } from "../../../../src/domain/accounts/website-config.ts";

type WebPlayer = NonNullable<NonNullable<StoredConfig["features"]>["webPlayer"]>;

interface ReadParagraph {
  readonly text: string;
  rangeOf(charIndex: number, charLength: number): unknown;
}
interface ReadingWindow {
  readonly document: { querySelector(selector: string): unknown };
  readonly reading: {
    readonly unsetParagraphSelector: string;
    readParagraphs(article: unknown, rules: unknown): ReadParagraph[];
  };
}
declare const window: ReadingWindow;

const modules = ["paragraphs.ts", "what-is-read.ts"];

const bundle = lazy(async () => {
  const { outputFiles } = await build({
    stdin: {
      contents: modules.map((name) => `export * from "./${name}";`).join("\n"),
      resolveDir: join(import.meta.dirname, "../../../../src/client/page/text"),
    },
    bundle: true,
    format: "iife",
    globalName: "reading",
    tsconfigRaw: {},
    write: false,
  });
  return outputFiles[0]?.text ?? "";
});

const rulesOf = (webPlayer: WebPlayer) => completeConfig({ features: { webPlayer } }).features.webPlayer;

/** The texts of the paragraphs that a player with this configuration reads of an article. */
export const readPage = async (page: Page, article: string, webPlayer: WebPlayer = {}): Promise<string[]> => {
  await page.setContent(`<!doctype html><html lang="en"><body><article>${article}</article></body></html>`);
  await page.addScriptTag({ content: await bundle() });
  return await page.evaluate((rules) => {
    const article = window.document.querySelector(rules.selector);
    return window.reading.readParagraphs(article, rules).map(({ text }) => text);
  }, rulesOf(webPlayer));
};

/** The `paragraphSelector` that the player of an opened page replaces. */
export const unsetParagraphSelector = (page: Page): Promise<string> =>
  page.evaluate(() => window.reading.unsetParagraphSelector);

/** What the page shows where a word of the first paragraph is marked. */
export const markedAt = (page: Page, word: string): Promise<string> =>
  page.evaluate(
    ({ rules, word }) => {
      const article = window.document.querySelector(rules.selector);
      const [first] = window.reading.readParagraphs(article, rules);
      return String(first?.rangeOf(first.text.indexOf(word), word.length));
    },
    { rules: rulesOf({}), word },
  );
