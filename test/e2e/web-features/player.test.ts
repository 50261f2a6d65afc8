import { expect } from "chai";
import type { Page } from "playwright-core";
import { accessibilityViolations } from "../../support/accessibility.ts";
import { type FeatureWindow, openFeatureSite } from "../../support/client-library/feature-page.ts";
import { duringSuite } from "../../support/during.ts";
import {
  article,
  first,
  heading,
  longArticle,
  miniPlayer,
  playButton,
  player,
  playerConfig,
  players,
  scrollByHand,
  second,
  styleOf,
} from "./article.ts";

interface PageElement {
  readonly parentElement: { append(element: unknown): void };
  textContent: string;
  remove(): void;
}
interface PageDocument {
  querySelector(selector: string): PageElement;
  createElement(tag: string): PageElement;
}
declare const document: PageDocument;
declare const window: FeatureWindow;

describe("the player on a website's page", () => {
  const site = duringSuite(openFeatureSite);

  afterEach(() => site.closePages());

  it("reads the article paragraph by paragraph, under a strict content security policy", async () => {
    await site.configure(playerConfig({ rate: 2 }));
    const { page, untilEnded, texts, complaints } = await site.open(article);
    const shown = await player(page);
    await playButton(shown).click();
    await untilEnded(3);
    expect(texts()).to.deep.equal([heading, first, second]);
    await shown.getByText("Listen").waitFor();
    expect(complaints).to.deep.equal([]);
  });

  it("loads the next paragraph before it is played", async () => {
    await site.configure(playerConfig());
    const { page, untilPlaying, untilSpoken } = await site.open(longArticle);
    const shown = await player(page);
    await playButton(shown).click();
    await untilPlaying();
    await shown.getByRole("button", { name: "Pause" }).click();
    await untilSpoken(new RegExp(`^${first}`));
    expect(await page.evaluate(() => window.ended)).to.equal(0);
  });

  it("pauses and resumes, goes to other paragraphs, and shows the position", async () => {
    await site.configure(playerConfig());
    const feature = await site.open(longArticle);
    const shown = await player(feature.page);
    const slider = shown.getByRole("slider", { name: "Position" });
    const at = (paragraph: number) =>
      shown
        .locator(
          `[role=slider][aria-valuetext="Paragraph ${paragraph} of 3"], [aria-valuetext="Paragraph ${paragraph} of 3"]`,
        )
        .waitFor();
    await playButton(shown).click();
    await feature.untilPlaying();
    await shown.getByRole("button", { name: "Pause" }).click();
    await shown.getByRole("button", { name: "Resume" }).click();
    await feature.untilPlaying();
    await shown.getByRole("button", { name: "Next paragraph" }).click();
    await at(2);
    await slider.press("ArrowRight");
    await at(3);
    await shown.getByRole("button", { name: "Previous paragraph" }).click();
    await at(2);
    await feature.page.locator("p[data-voxledger-speaking]").waitFor();
    await slider.fill("0");
    await at(1);
    await feature.page.keyboard.press("Escape");
    await shown.getByRole("button", { name: "Listen" }).waitFor();
    await feature.page.locator("[data-voxledger-speaking]").waitFor({ state: "detached" });
  });

  it("plays at another speed from the same audio", async () => {
    await site.configure(playerConfig());
    const paragraphs = ["First", "Second", "Third", "Last"].map((place) => `${place} of the paragraphs. `);
    const feature = await site.open(
      `<article>${paragraphs.map((text) => `<p>${text.repeat(4)}</p>`).join("")}</article>`,
    );
    const shown = await player(feature.page);
    await playButton(shown).click();
    await feature.untilPlaying();
    await shown.getByRole("combobox", { name: "Speed" }).selectOption("2");
    await feature.page.waitForFunction(() => window.audios.some(({ playbackRate }) => playbackRate === 2));
    await feature.untilEnded(2);
    expect(
      await feature.page.evaluate(() => window.audios.map(({ playbackRate }) => playbackRate)),
    ).to.include(2);
    expect(new Set(feature.texts())).to.have.property("size", feature.texts().length);
  });

  it("has a player for each article that has a text, also for those that come and go", async () => {
    await site.configure(playerConfig());
    const other = `<article><p>${"Another article. ".repeat(15)}</p></article>`;
    const empty = `<article><p> </p><p>…</p><h2></h2></article><article></article>`;
    const feature = await site.open(`${longArticle}${other}${empty}`);
    await player(feature.page);
    expect(await players(feature.page).count()).to.equal(2);
    await playButton(players(feature.page).first()).click();
    await feature.untilPlaying();
    await playButton(players(feature.page).nth(1)).click();
    await feature.untilSpoken(/^Another/);
    await players(feature.page).first().getByRole("button", { name: "Listen" }).waitFor();
    await players(feature.page).nth(1).getByRole("button", { name: "Pause" }).waitFor();
    await feature.page.evaluate(() => {
      const [added, paragraph] = [document.createElement("article"), document.createElement("p")];
      paragraph.textContent = "Added later.";
      (added as unknown as { append(element: unknown): void }).append(paragraph);
      document.querySelector("main").parentElement.append(added);
      document.querySelector("main").remove();
    });
    await feature.page.waitForFunction(
      () => document.querySelector("article:last-of-type")?.textContent === "Added later.",
    );
    await players(feature.page).nth(1).waitFor();
    expect(await players(feature.page).count()).to.equal(2);
    expect(await miniPlayer(feature.page).count()).to.equal(2);
  });

  it("reads a long article in order, each text once", async () => {
    await site.configure(playerConfig({ rate: 2 }));
    const sentence = (n: number) => `Sentence number ${n} of this paragraph is here to be read. `;
    const long = Array.from({ length: 60 }, (_, index) => `<p>${sentence(index).repeat(12)}</p>`).join("");
    const feature = await site.open(`<article>${long}</article>`);
    const shown = await player(feature.page);
    await playButton(shown).click();
    await feature.untilPlaying();
    await shown.getByRole("button", { name: "Pause" }).click();
    const before = feature.texts().length;
    await feature.page.getByText(sentence(40).trim()).first().click();
    await feature.untilSpoken(/number 40/);
    await feature.untilPlaying();
    await shown.locator('[aria-valuetext="Paragraph 41 of 60"]').waitFor();
    const texts = feature.texts().slice(before);
    expect(texts.length).to.be.below(5); // not the whole article in advance
    expect(texts.every((text) => text.length <= 280 && text.includes("number 40"))).to.equal(true);
  });

  it("finds a paragraph's text once, across nested elements, and never reads it as SSML", async () => {
    await site.configure(playerConfig());
    const body = `<article>
      <p>&lt;speak&gt; is <b>SS</b>ML,<br>and soft&shy;ware.</p>
      <ul><li>Outer <p>inner</p> end<ul><li>deep</li></ul></li></ul>
      <article><p>A comment.</p></article>
    </article>`;
    const feature = await site.open(body);
    await playButton(players(feature.page).first()).click();
    await feature.untilSpoken("deep");
    expect(feature.texts()).to.deep.equal([
      "‹speak> is SSML, and software.",
      "Outer",
      "inner",
      "end",
      "deep",
    ]);
  });

  it("says that an article cannot be read, and tries again", async () => {
    await site.configure(playerConfig({ voice: "A voice that does not exist" }));
    const feature = await site.open(article);
    const shown = await player(feature.page);
    await playButton(shown).click();
    await shown.getByRole("status").filter({ hasText: "could not be read aloud" }).waitFor();
    await playButton(shown).click();
    await shown.getByRole("status").filter({ hasText: "could not be read aloud" }).waitFor();
  });

  it("is started by a program, which can remove everything again", async () => {
    await site.configure({
      features: { ...playerConfig().features, paragraphNavigation: { enabled: true } },
    });
    const { page, texts, untilPlaying } = await site.open(longArticle, { head: "" });
    const start = (url: string, apiKey: string) =>
      page.evaluate(
        async ({ url, apiKey }) => {
          const [{ Voxledger }, { startPage }] = await Promise.all([
            import(`${url}/client.js`),
            import(`${url}/player.js`),
          ]);
          Object.assign(window, { stopPage: await startPage(new Voxledger({ apiKey })) });
        },
        { url, apiKey },
      );
    await start(site.service.url, site.website.apiKey);
    await playButton(await player(page)).click();
    await untilPlaying();
    await page.evaluate(() => (window as unknown as { stopPage(): void }).stopPage());
    expect(await page.locator("voxledger-player, [data-voxledger-speaking]").count()).to.equal(0);
    expect(await page.evaluate(() => window.audios.every(({ paused }) => paused))).to.equal(true);
    const spoken = texts().length;
    await page.keyboard.press("Alt+ArrowDown");
    await start(site.service.url, site.website.apiKey);
    await playButton(await player(page)).waitFor();
    expect(texts()).to.have.length(spoken);
  });

  it("shifts nothing on a page that reserves its place", async () => {
    await site.configure(playerConfig({ position: { target: "#player" } }));
    const css = "#player { min-height: 5.75rem; display: flow-root }";
    const body = article.replace("<main>", '<main><div id="player"></div>');
    const { page } = await site.open(body, { css, prepare: observeShifts });
    await player(page);
    expect(await page.evaluate(() => (window as unknown as { shifts: number[] }).shifts)).to.deep.equal([]);
  });

  for (const theme of ["neutral", "brand"] as const) {
    it(`has no accessibility violation in the theme ${theme} on a light and on a dark page`, async () => {
      await site.configure(playerConfig({ theme }));
      const css = `:root { color-scheme: light } :root.dark { color-scheme: dark } #outside { margin-top: 3000px }`;
      const feature = await site.open(longArticle, { css });
      const { page } = feature;
      const expectAccessible = async () => {
        for (const scheme of ["light", "dark"]) {
          await page.evaluate(`document.documentElement.className = "${scheme}"`);
          expect(await styleOf(page.locator("html"), "color-scheme")).to.equal(scheme);
          expect(await accessibilityViolations(page), scheme).to.deep.equal([]);
        }
      };
      const shown = await player(page);
      await expectAccessible();
      await playButton(shown).click();
      await feature.untilPlaying();
      await scrollByHand(page, "#outside");
      await miniPlayer(page).waitFor();
      await page.emulateMedia({ reducedMotion: "reduce" });
      await expectAccessible();
    });
  }

  it("is operated with the keyboard, and fits into a narrow page that is read from right to left", async () => {
    await site.configure(playerConfig());
    const { page, untilSpoken } = await site.open(article, {
      attributes: 'lang="ar" dir="rtl"',
      prepare: (opened) => opened.setViewportSize({ width: 360, height: 640 }),
    });
    const shown = await player(page);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await untilSpoken(heading);
    await shown.getByRole("slider").press("ArrowLeft");
    await shown.locator('[aria-valuetext="الفقرة 2 من 3"]').waitFor();
    const [box, main] = [await shown.boundingBox(), await page.locator("main").boundingBox()];
    expect(box?.width).to.be.at.most(main?.width ?? 0);
    expect(await page.evaluate("document.documentElement.scrollWidth")).to.equal(360);
  });
});

/** Records every shift of the page's layout that no user caused. */
const observeShifts = (page: Page): Promise<unknown> =>
  page.addInitScript(`
    window.shifts = [];
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) shifts.push(value);
    }).observe({ type: "layout-shift", buffered: true });`);
