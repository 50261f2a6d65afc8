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
    paragraphsOfPage(html: string, rules: unknown): ReadParagraph[];
  };
}
declare const window: ReadingWindow;

const modules = [
  "client/page/text/paragraphs.ts",
  "client/page/text/what-is-read.ts",
  "console/screens/websites/page-paragraphs.ts",
];

const bundle = lazy(async () => {
  const { outputFiles } = await build({
    stdin: {
      contents: modules.map((name) => `export * from "./${name}";`).join("\n"),
      resolveDir: join(import.meta.dirname, "../../../../src"),
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

const pageOf = (article: string): string =>
  `<!doctype html><html lang="en"><body><article>${article}</article></body></html>`;

/** The texts of the paragraphs that a player with this configuration reads of an article. */
export const readPage = async (page: Page, article: string, webPlayer: WebPlayer = {}): Promise<string[]> => {
  await page.setContent(pageOf(article));
  await page.addScriptTag({ content: await bundle() });
  return await page.evaluate((rules) => {
    const article = window.document.querySelector(rules.selector);
    return window.reading.readParagraphs(article, rules).map(({ text }) => text);
  }, rulesOf(webPlayer));
};

/** The texts that the console shows of the same page, in an opened page. */
export const previewPage = (page: Page, article: string): Promise<string[]> =>
  page.evaluate(({ html, rules }) => window.reading.paragraphsOfPage(html, rules).map(({ text }) => text), {
    html: pageOf(article),
    rules: rulesOf({}),
  });

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
