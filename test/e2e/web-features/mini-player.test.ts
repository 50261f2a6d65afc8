import { expect } from "chai";
import type { Locator, Page } from "playwright-core";
import { tenTimesASecond } from "../../support/browser.ts";
import { type FeaturePage, openFeatureSite } from "../../support/client-library/feature-page.ts";
import { duringSuite } from "../../support/during.ts";
import {
  longArticle,
  miniPlayer,
  playButton,
  player,
  playerConfig,
  scrollByHand,
  type WebPlayer,
} from "./article.ts";

interface PageElement {
  className: string;
  append(child: unknown): void;
  getBoundingClientRect(): Box;
  attachShadow(options: object): PageElement & { adoptedStyleSheets: unknown[] };
}
interface PageDocument {
  readonly documentElement: PageElement;
  readonly activeElement: { readonly id: string; readonly localName: string } | null;
  createElement(tag: string): PageElement;
  querySelector(selector: string): PageElement;
}
declare const document: PageDocument;
declare const CSSStyleSheet: new () => { replaceSync(css: string): void };

const css = `
  #outside { margin-top: 3000px }
  .banner, .overlay, .notice { position: fixed; inset: auto 0 0 0; padding: 10px; background: #eee }
  .overlay { inset: 0 }
  .overlay button { position: absolute; left: 10px; bottom: 20px }
  .overlay.full button { inset: 0; width: 100% }
  .shell { position: fixed; inset: 0; overflow: auto }
  .bar { position: sticky; top: 0; height: 70px; background: #eee }
  .waiting .banner, .waiting .overlay { display: none }`;

const banner = `<div class="banner" role="dialog" aria-label="Cookies">
  <p>This page has cookies.</p><button>Accept</button> <button>Refuse</button></div>`;

/** The sides of the mini player. */
type Box = { readonly top: number; readonly bottom: number };

describe("the mini player", () => {
  const site = duringSuite(openFeatureSite);

  afterEach(() => site.closePages());

  /** Opens a page in which an article is read, and scrolls its player out of view. */
  const open = async (
    body: string,
    { attributes, ...options }: NonNullable<WebPlayer["miniPlayer"]> & { attributes?: string } = {},
  ): Promise<FeaturePage & { mini: Locator }> => {
    await site.configure(playerConfig({ miniPlayer: { animation: "none", ...options } }));
    const feature = await site.open(body, {
      css,
      attributes: attributes ?? 'lang="en"',
      prepare: (page) => page.emulateMedia({ reducedMotion: "reduce" }), // and so nothing scrolls back
    });
    await playButton(await player(feature.page)).click();
    await feature.untilPlaying();
    await scrollByHand(feature.page, "#outside");
    const mini = miniPlayer(feature.page);
    await mini.waitFor();
    return { ...feature, mini };
  };

  /** Waits until a side of the mini player is at this distance from the top of the window. */
  const untilAt = (page: Page, side: keyof Box, at: number) =>
    page.waitForFunction(
      ({ side, at }) => {
        const box = document.querySelector("[data-animation]").getBoundingClientRect();
        return Math.abs(box[side] - at) < 1;
      },
      { side, at },
      tenTimesASecond,
    );
  const home = 720 - 16;

  it("moves off the buttons of a consent banner that appears later, and back when it has gone", async () => {
    const { page, mini } = await open(`${longArticle}${banner}`, { attributes: 'lang="en" class="waiting"' });
    await untilAt(page, "bottom", home);
    await mini.getByRole("button", { name: "Pause" }).click(); // no clock makes it look again
    await page.evaluate(() => {
      document.documentElement.className = "";
    });
    const top = (await page.locator(".banner").boundingBox())?.y ?? 0;
    await untilAt(page, "bottom", top - 8);
    await page.getByRole("button", { name: "Accept" }).click({ trial: true });
    await mini.getByRole("button", { name: "Resume" }).click({ trial: true });
    await page.evaluate(() => {
      document.documentElement.className = "waiting";
    });
    await untilAt(page, "bottom", home);
  });

  it("moves off a banner in a shadow root", async () => {
    const { page } = await open(`${longArticle}<div id="consent"></div>`);
    await page.evaluate(() => {
      const host = document.querySelector("#consent");
      const [root, inner, button] = [
        host.attachShadow({ mode: "open" }),
        document.createElement("div"),
        document.createElement("button"),
      ];
      const sheet = new CSSStyleSheet();
      sheet.replaceSync("div { position: fixed; inset: auto 0 0 0; height: 100px }");
      root.adoptedStyleSheets = [sheet];
      inner.append(button);
      root.append(inner);
    });
    await untilAt(page, "bottom", 720 - 100 - 8);
  });

  it("moves off the buttons of an overlay, and is hidden while they leave no place", async () => {
    const overlay = (name: string) => `<div class="overlay ${name}"><button>Agree</button></div>`;
    const some = await open(`${longArticle}${overlay("")}`, { attributes: 'class="waiting" lang="en"' });
    await some.page.evaluate(() => {
      document.documentElement.className = "";
    });
    await some.page.getByRole("button", { name: "Agree" }).click({ trial: true });
    await some.mini.getByRole("button", { name: "Pause" }).click({ trial: true });
    const none = await open(`${longArticle}${overlay("full")}`, { attributes: 'class="waiting" lang="en"' });
    await none.page.evaluate(() => {
      document.documentElement.className = "";
    });
    await none.mini.waitFor({ state: "hidden" });
    await none.page.evaluate(() => {
      document.documentElement.className = "waiting";
    });
    await none.mini.waitFor();
  });

  it("moves off a bar of tabs at the top", async () => {
    const bar = '<nav class="bar"><a href="#a">Home</a> <a href="#b">News</a></nav>';
    const { page, mini } = await open(`${bar}${longArticle}`, { position: { top: "5px", left: "5px" } });
    await untilAt(page, "top", 70 + 8);
    await mini.getByRole("button", { name: "Pause" }).click({ trial: true });
  });

  it("keeps its place over a notice without buttons, and in an application that is itself fixed", async () => {
    const notice = await open(`${longArticle}<div class="notice">Saved.</div>`);
    await untilAt(notice.page, "bottom", home);
    const shell = await open(`<div class="shell"><button>Menu</button>${longArticle}</div>`);
    await untilAt(shell.page, "bottom", home);
    await shell.mini.getByRole("button", { name: "Pause" }).click({ trial: true });
  });

  it("returns the focus to where it was, or else to the article's player", async () => {
    const field = '<label>Name <input id="name"></label>';
    const { page, mini } = await open(`${longArticle}${field}`);
    const focused = () =>
      page.evaluate(() => document.activeElement?.id || document.activeElement?.localName);
    await page.locator("#name").focus();
    await mini.getByRole("button", { name: "Close" }).press("Enter");
    await mini.waitFor({ state: "hidden" });
    expect(await focused()).to.equal("name");
    const again = await open(longArticle.replace("<h2>", "<h2>Second: "));
    await again.page.evaluate("document.activeElement.blur()");
    await again.mini.getByRole("button", { name: "Close" }).press("Enter");
    await again.mini.waitFor({ state: "hidden" });
    const play = playButton(await player(again.page));
    expect(await play.evaluate((button) => button.matches(":focus"))).to.equal(true);
  });
});
