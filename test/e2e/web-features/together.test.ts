import { expect } from "chai";
import { type FeatureWindow, openFeatureSite } from "../../support/client-library/feature-page.ts";
import { duringSuite } from "../../support/during.ts";
import {
  article,
  first,
  heading,
  longArticle,
  playButton,
  player,
  playerConfig,
  players,
  second,
} from "./article.ts";

interface PageElement {
  append(element: unknown): void;
  attachShadow(options: { mode: string }): PageElement;
  focus(): void;
}
declare const document: {
  readonly body: PageElement;
  createElement(tag: string): PageElement;
};
declare const window: FeatureWindow;

/** Several features, and what a page may contain. */
describe("the features of a website's page", () => {
  const site = duringSuite(openFeatureSite);

  afterEach(() => site.closePages());

  it("keep an article playing when the click that starts it removes a selection that was spoken", async () => {
    const { features } = playerConfig();
    await site.configure({ features: { ...features, speakSelectedText: { enabled: true } } });
    const { page, untilSpoken, untilPlaying } = await site.open(longArticle);
    const shown = await player(page);
    await playButton(shown).click();
    await untilPlaying();
    await page.locator("#outside").click({ clickCount: 3 });
    await untilSpoken("Outside of the article.");
    await page.locator("article p").first().click();
    await untilSpoken(new RegExp(`^${first}`));
    await untilPlaying();
    await shown.getByRole("button", { name: "Pause" }).waitFor();
  });

  it("name a field by its label without the options and texts of fields in the label", async () => {
    await site.configure({ features: { accessibilityNavigation: { enabled: true } } });
    const { page, texts, untilSpoken } = await site.open(`<h1>Form</h1>
      <label>Country <select><option>Norway</option><option>Peru</option></select></label>
      <label>Remark <textarea>A secret.</textarea></label>`);
    await page.keyboard.press("Tab");
    await untilSpoken(/Country/);
    await page.keyboard.press("Tab");
    await untilSpoken(/Remark/);
    expect(texts()).to.deep.equal(["Country, combo box", "Remark, text field"]);
  });

  it("leave Alt and the arrow keys to fields in a shadow root", async () => {
    await site.configure({ features: { paragraphNavigation: { enabled: true } } });
    const { page, texts, untilSpoken } = await site.open(article);
    await page.evaluate(() => {
      const [host, field] = [document.createElement("div"), document.createElement("textarea")];
      host.attachShadow({ mode: "open" }).append(field);
      document.body.append(host);
      field.focus();
    });
    await page.keyboard.press("Alt+ArrowDown");
    await page.locator("h1").click();
    await page.keyboard.press("Alt+ArrowDown");
    await untilSpoken(heading);
    await page.keyboard.press("Alt+ArrowDown");
    await untilSpoken(first);
    expect(texts()).to.deep.equal([heading, first]);
  });

  it("keep the speed of the article that is played when another one gets a speed", async () => {
    await site.configure(playerConfig());
    const { page, untilPlaying } = await site.open(
      `${longArticle}<article><p>${"Another article. ".repeat(15)}</p></article>`,
    );
    const shown = await player(page);
    await playButton(shown).click();
    await untilPlaying();
    await players(page).nth(1).getByRole("combobox", { name: "Speed" }).selectOption("2");
    const rates = await page.evaluate(() => window.audios.map(({ playbackRate }) => playbackRate));
    expect(rates).to.not.include(2);
  });

  it("ignore a selector with an open bracket, and work otherwise", async () => {
    const open = ":is(.note";
    await site.configure(playerConfig({ sanitize: { exclude: [open, "h2"] } }));
    const withExclude = await site.open(article);
    await playButton(await player(withExclude.page)).click();
    await withExclude.untilSpoken(second);
    expect(withExclude.texts()).to.deep.equal([first, second]);
    const { features } = playerConfig({ selector: open, paragraphSelector: "p" });
    await site.configure({ features: { ...features, paragraphNavigation: { enabled: true } } });
    const withSelector = await site.open(article);
    await withSelector.page.locator("h1").click();
    await withSelector.page.keyboard.press("Alt+ArrowDown");
    await withSelector.untilSpoken("Read by thousands.");
    expect(await players(withSelector.page).count()).to.equal(0);
    expect([...withExclude.complaints, ...withSelector.complaints]).to.deep.equal([]);
  });
});
