import { expect } from "chai";
import type { Locator, Page } from "playwright-core";
import { translatedLanguages, translationFor } from "../../../src/client/labels/translations.ts";
import { accessibilityViolations } from "../../support/accessibility.ts";
import { openFeatureSite } from "../../support/client-library/feature-page.ts";
import { duringSuite } from "../../support/during.ts";
import {
  longArticle,
  miniPlayer,
  playButton,
  player,
  playerConfig,
  players,
  scrollByHand,
  styleOf,
} from "./article.ts";

type Color = string;

/** How many pixels of a screenshot have each colour, such as `0,0,0`. */
const countColors = async (page: Page, target: Locator, marginPx = 0): Promise<Map<Color, number>> => {
  const box = await target.boundingBox();
  if (!box) throw new Error("the element is not shown");
  const { x, y, width, height } = box;
  const clip = {
    ...{ x: x - marginPx, y: y - marginPx },
    ...{ width: width + 2 * marginPx, height: height + 2 * marginPx },
  };
  const image = await page.screenshot({ clip });
  const decoder = await page.context().newPage(); // the page's policy allows no images
  const counts = await decoder.evaluate(`(async () => {
    const bytes = Uint8Array.from(atob("${image.toString("base64")}"), (char) => char.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes]));
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
    canvas.drawImage(bitmap, 0, 0);
    const { data } = canvas.getImageData(0, 0, bitmap.width, bitmap.height);
    const counts = {};
    for (let at = 0; at < data.length; at += 4) {
      const color = data.slice(at, at + 3).join();
      counts[color] = (counts[color] ?? 0) + 1;
    }
    return counts;
  })()`);
  await decoder.close();
  return new Map(Object.entries(counts as Record<Color, number>));
};

/** The pixels of a system colour on the page's canvas. Some are transparent. */
const systemColor = async (page: Page, name: string): Promise<Color> => {
  const probe = (one: string): Promise<unknown> =>
    page.evaluate(`(() => {
      const element = document.createElement("i");
      element.style.color = "${one}";
      document.body.append(element);
      const { color } = getComputedStyle(element);
      element.remove();
      return color;
    })()`);
  const [color, canvas] = [await probe(name), await probe("Canvas")].map((style) =>
    [...String(style).matchAll(/[\d.]+/g)].map(Number),
  );
  const alpha = color?.[3] ?? 1;
  const blended = [0, 1, 2].map((at) => (color?.[at] ?? 0) * alpha + (canvas?.[at] ?? 0) * (1 - alpha));
  return blended.map(Math.round).join();
};

/** An article in every language that has labels. */
const everyLanguage = ["en", ...translatedLanguages]
  .map((lang) => `<article lang="${lang}"><h2>${lang}</h2><p>Text.</p></article>`)
  .join("");

describe("the appearance of players", () => {
  const site = duringSuite(openFeatureSite);

  afterEach(() => site.closePages());

  for (const colorScheme of ["light", "dark"] as const) {
    it(`shows track, thumb, focus and marks in forced colours of a ${colorScheme} theme`, async () => {
      await site.configure(playerConfig({ theme: { fill: "#fefefe", track: "#fefefe" } }));
      const { page, untilPlaying } = await site.open(longArticle, {
        css: ":root { color-scheme: light dark }",
        prepare: (opened) => opened.emulateMedia({ forcedColors: "active", colorScheme }),
      });
      const shown = await player(page);
      const slider = shown.getByRole("slider");
      await slider.fill("300");
      const [highlight, canvas, text] = await Promise.all(
        ["Highlight", "Canvas", "CanvasText"].map((name) => systemColor(page, name)),
      );
      expect(highlight).to.not.equal(canvas);
      const count = async (target: Locator, color = highlight, margin = 0) =>
        (await countColors(page, target, margin)).get(color ?? "") ?? 0;
      const { width = 0 } = (await slider.boundingBox()) ?? {};
      expect(await count(slider)).to.be.above(0.3 * width * 3); // the fill and the thumb
      expect(await count(slider, text)).to.be.above(width); // the outline of the track
      const next = shown.getByRole("button", { name: "Next paragraph" });
      const before = await count(next, highlight, 5);
      await page.keyboard.press("Shift+Tab");
      expect(await next.evaluate((button) => button.matches(":focus-visible"))).to.equal(true);
      expect(await count(next, highlight, 5)).to.be.above(before + 80);
      await playButton(shown).click();
      await untilPlaying();
      const marked = page.locator("[data-voxledger-speaking]");
      await marked.waitFor();
      await page.waitForFunction(() => CSS.highlights.has("voxledger-word"));
      const { width: wide = 0, height: high = 0 } = (await marked.boundingBox()) ?? {};
      expect(await count(marked, highlight, 6)).to.be.above(2 * 2 * (wide + high - 20)); // its outline
      expect(await count(marked)).to.be.above(300); // the word
      expect(await accessibilityViolations(page)).to.deep.equal([]);
    });
  }

  it("dims the button that has no paragraph to go to", async () => {
    await site.configure(playerConfig());
    const { page } = await site.open(longArticle);
    const shown = await player(page);
    const opacityOf = (name: string) => styleOf(shown.getByRole("button", { name }), "opacity");
    expect(await opacityOf("Previous paragraph")).to.equal("0.45");
    expect(await opacityOf("Next paragraph")).to.equal("1");
    await page.emulateMedia({ forcedColors: "active" }); // which has a colour of its own for it
    expect(await opacityOf("Previous paragraph")).to.equal("1");
  });

  it("is not printed, nor are the mini player and the marks", async () => {
    await site.configure(playerConfig());
    const { page, untilPlaying } = await site.open(longArticle, {
      css: "#outside { margin-top: 3000px }",
      prepare: (opened) => opened.emulateMedia({ reducedMotion: "reduce" }),
    });
    await playButton(await player(page)).click();
    await untilPlaying();
    await page.waitForFunction(() => CSS.highlights.has("voxledger-word"));
    const marked = page.locator("[data-voxledger-speaking]");
    const word = "255,224,138";
    expect((await countColors(page, marked)).get(word)).to.be.above(300);
    await page.emulateMedia({ media: "print" });
    expect((await countColors(page, marked)).get(word)).to.equal(undefined);
    expect(await styleOf(marked, "background-color")).to.equal("rgba(0, 0, 0, 0)");
    expect(await styleOf(marked, "box-shadow")).to.equal("none");
    expect(await players(page).isVisible()).to.equal(false);
    await page.emulateMedia({ media: "screen" });
    await scrollByHand(page, "#outside");
    await miniPlayer(page).waitFor();
    await page.emulateMedia({ media: "print" });
    await miniPlayer(page).waitFor({ state: "hidden" });
    await page.emulateMedia({ media: "screen" });
    await miniPlayer(page).waitFor();
  });

  it("has labels in the language and direction of each article, and fits into 320 pixels", async () => {
    await site.configure(playerConfig());
    // 1280 pixels at a zoom of 400 %
    const { page, complaints } = await site.open(`<main><h1>News</h1>${everyLanguage}</main>`, {
      attributes: 'lang="en-GB"',
      prepare: (opened) => opened.setViewportSize({ width: 320, height: 256 }),
    });
    await player(page);
    await page.waitForFunction(
      (count) => Number(document.querySelectorAll("main > voxledger-player").length) === count,
      translatedLanguages.length + 1,
    );
    for (const lang of translatedLanguages) {
      const shown = page.locator(`voxledger-player[lang="${lang}"]:has(+ article[lang="${lang}"])`);
      const label = translationFor(lang)?.labels.listen ?? "";
      await shown.getByRole("button", { name: label, exact: true }).waitFor();
      const isRightToLeft = ["ar", "fa", "he", "ur"].includes(lang);
      expect(await styleOf(shown, "direction"), lang).to.equal(isRightToLeft ? "rtl" : "ltr");
    }
    expect(await page.evaluate("document.documentElement.scrollWidth")).to.equal(320);
    const tooWide = `[...document.querySelectorAll("main > voxledger-player")].filter(({ shadowRoot }) =>
      [...shadowRoot.querySelectorAll("*")].some((one) => one.getBoundingClientRect().right > 320 || one.getBoundingClientRect().left < 0)).map(({ lang }) => lang)`;
    expect(await page.evaluate(tooWide)).to.deep.equal([]);
    expect(await accessibilityViolations(page)).to.deep.equal([]);
    expect(complaints).to.deep.equal([]);
  });

  it("has labels of the page for an article of an unknown language, or else English ones", async () => {
    await site.configure(playerConfig());
    const listen = async (attributes: string, article: string) => {
      const { page } = await site.open(`<main><article ${article}><p>Text.</p></article></main>`, {
        attributes,
      });
      const shown = await player(page);
      return [await shown.getAttribute("lang"), await playButton(shown).textContent()];
    };
    expect(await listen('lang="es-MX"', 'lang="cy"')).to.deep.equal(["es", "Escuchar"]);
    expect(await listen('lang="es"', "")).to.deep.equal(["es", "Escuchar"]);
    expect(await listen('lang="cy"', "")).to.deep.equal(["en", "Listen"]);
    expect(await listen("", 'lang="zh-TW"')).to.deep.equal(["zh-Hant", "收聽"]);
  });

  it("has the labels that a page gives to the library", async () => {
    await site.configure(playerConfig({ labels: { fr: { listen: "Site", resume: "Site" } } }));
    const { page } = await site.open(longArticle, { head: "", attributes: 'lang="fr"' });
    await page.evaluate(
      async ({ url, apiKey }) => {
        const { Voxledger } = await import(`${url}/client.js`);
        const { startPage } = await import(`${url}/player.js`);
        await startPage(new Voxledger({ apiKey, labels: { fr: { listen: "Page" } } }));
      },
      { url: site.service.url, apiKey: site.website.apiKey },
    );
    const shown = await player(page);
    expect(await playButton(shown).textContent()).to.equal("Page");
    expect(await shown.getByRole("timer").getAttribute("aria-label")).to.equal("Temps");
  });

  it("asks for speech in the page's language", async () => {
    await site.configure({ features: { welcomeMessage: { enabled: true, text: "Bienvenue." } } });
    const { page } = await site.open(longArticle, { attributes: 'lang="ar"' });
    const allow = page.getByRole("button", { name: "السماح بتشغيل الصوت" });
    await allow.waitFor();
    expect(await styleOf(allow, "direction")).to.equal("rtl");
  });

  it("is English if the labels cannot be loaded", async () => {
    await site.configure(playerConfig());
    const { page } = await site.open(longArticle, {
      attributes: 'lang="fr"',
      prepare: (opened) => opened.route("**/client-labels.js", (route) => route.abort()),
    });
    expect(await playButton(await player(page)).textContent()).to.equal("Listen");
  });

  it("names the landmark of the first player, so that several ones cannot be confused", async () => {
    await site.configure(playerConfig());
    const { page } = await site.open(
      `<main>${longArticle}${longArticle.replaceAll("<h2>", "<h2>2: ")}</main>`,
    );
    await players(page).nth(1).getByRole("group", { name: "Listen to this article" }).waitFor();
    expect(await page.getByRole("region", { name: "Listen to this article" }).count()).to.equal(1);
  });
});

declare const CSS: { readonly highlights: ReadonlyMap<string, unknown> };
declare const document: { querySelectorAll(selector: string): { readonly length: number } };
