import type { Locator, Page } from "playwright-core";
import type { StoredConfig } from "../../../src/domain/accounts/website-config.ts";

export const paragraphs = [
  "The night train",
  "It leaves the city at nine in the evening.",
  "By morning it has reached the sea.",
] as const;

export const [heading, first, second] = paragraphs;

/** A text of one request, about this long. */
const longer = (text: string): string => `${text} `.repeat(Math.floor(270 / (text.length + 1))).trim();

/** An article with a heading and two paragraphs, between other parts of a page. */
export const article = `
<header><h1>A journal of railways</h1><p>Read by thousands.</p></header>
<main>
<article><h2>${heading}</h2><p>${first}</p><p>${second}</p></article>
<p id="outside">Outside of the article.</p>
</main>`;

/** The article with paragraphs that are spoken for a quarter of a minute. */
export const longArticle = paragraphs.reduce(
  (html, paragraph) => html.replace(`>${paragraph}<`, `>${longer(paragraph)}<`),
  article,
);

type Features = NonNullable<StoredConfig["features"]>;
export type WebPlayer = NonNullable<Features["webPlayer"]>;

/** A configuration with a player. */
export const playerConfig = (webPlayer: WebPlayer = {}, voice: StoredConfig["voice"] = {}): StoredConfig => ({
  features: { webPlayer: { enabled: true, ...webPlayer } },
  voice,
});

export const players = (page: Page): Locator => page.locator("voxledger-player:not([data-animation])");
export const miniPlayer = (page: Page): Locator => page.locator("voxledger-player[data-animation]");
export const playButton = (player: Locator): Locator => player.locator("button.play");

/** Waits until the first player is there, and returns it. */
export const player = async (page: Page): Promise<Locator> => {
  const shown = players(page).first();
  await playButton(shown).waitFor();
  return shown;
};

declare const getComputedStyle: (element: unknown) => { getPropertyValue(name: string): string };

/** The property of an element's computed style. */
export const styleOf = (locator: Locator, property: string): Promise<string> =>
  locator.evaluate((element, name) => getComputedStyle(element).getPropertyValue(name), property);

/** Scrolls to the element as a reader does: a script's scrolling would be undone by the reading. */
export const scrollByHand = async (page: Page, selector: string): Promise<void> => {
  await page.mouse.wheel(0, 1);
  await page.locator(selector).scrollIntoViewIfNeeded();
};
