import { expect } from "chai";
import type { Page } from "playwright-core";
import { openFeatureSite } from "../../support/client-library/feature-page.ts";
import { duringSuite } from "../../support/during.ts";
import { article, first, longArticle, playButton, player, playerConfig, players } from "./article.ts";

/** The property `player` of a player's element. */
interface PlayerHandle {
  readonly state: Readonly<Record<string, unknown>> & { readonly totalSeconds: number };
  play(): void;
  pause(): void;
  stop(): void;
  seek(seconds: number): void;
  setSpeed(speed: number): void;
}

interface RecordedEvent {
  readonly type: string;
  readonly isFromPlayer: boolean;
  readonly detail: Readonly<Record<string, unknown>>;
}
declare const events: readonly RecordedEvent[];
declare const document: { querySelector(selector: string): { readonly player: PlayerHandle } };

/** Records the events at the page's root. */
const recordEvents = (page: Page): Promise<unknown> =>
  page.addInitScript(`
    window.events = [];
    for (const kind of ["start", "progress", "end", "error"]) {
      document.addEventListener("voxledger:" + kind, ({ type, target, composed, detail }) => {
        const isFromPlayer = composed && target.localName === "voxledger-player";
        events.push({ type, isFromPlayer, detail: structuredClone(detail) });
      });
    }`);

const recorded = async (page: Page, kind: string): Promise<readonly RecordedEvent[]> =>
  (await page.evaluate(() => events)).filter(({ type }) => type === `voxledger:${kind}`);

const until = (page: Page, kind: string): Promise<unknown> =>
  page.waitForFunction((type) => events.some((event) => event.type === type), `voxledger:${kind}`);

describe("the events of a player", () => {
  const site = duringSuite(openFeatureSite);
  const open = (body: string) => site.open(body, { prepare: recordEvents });

  afterEach(() => site.closePages());

  it("reach the page when an article is audible, goes on, and was read to its end", async () => {
    await site.configure(playerConfig({ rate: 2 }));
    const { page } = await open(article);
    await playButton(await player(page)).click();
    await until(page, "end");
    const [[start, ...moreStarts], progress, [end, ...moreEnds]] = [
      await recorded(page, "start"),
      await recorded(page, "progress"),
      await recorded(page, "end"),
    ];
    expect([moreStarts, moreEnds]).to.deep.equal([[], []]);
    expect(start?.isFromPlayer).to.equal(true);
    expect(start?.detail).to.include({ status: "playing", paragraph: 1, paragraphCount: 3, speed: 1 });
    expect(start?.detail.progress).to.be.within(0, 0.2);
    expect(end?.detail).to.include({ status: "idle", completed: true, progress: 1 });
    const seconds = Number(end?.detail.totalSeconds);
    expect(seconds).to.be.above(2);
    expect(progress.length)
      .to.be.above(0)
      .and.at.most(Math.ceil(seconds) + 1);
    expect(await recorded(page, "error")).to.deep.equal([]);
  });

  it("tell an end that the reader caused from one of the article", async () => {
    await site.configure(playerConfig());
    const { page, untilPlaying } = await open(longArticle);
    const shown = await player(page);
    await playButton(shown).click();
    await untilPlaying();
    await shown.getByRole("button", { name: "Next paragraph" }).click(); // no end, and no second start
    await page.waitForFunction(() => events.some(({ detail }) => detail.paragraph === 2));
    await page.keyboard.press("Escape");
    await until(page, "end");
    expect((await recorded(page, "end")).map(({ detail }) => detail.completed)).to.deep.equal([false]);
    expect(await recorded(page, "start")).to.have.length(1);
  });

  it("tell why an article cannot be read", async () => {
    await site.configure(playerConfig({ voice: "A voice that does not exist" }));
    const { page } = await open(article);
    await playButton(await player(page)).click();
    await until(page, "error");
    const [error] = await recorded(page, "error");
    expect(error?.detail).to.include({ status: "failed", code: "NOT_FOUND" });
    expect(error?.detail.message).to.be.a("string").and.include("A voice that does not exist");
    expect(await recorded(page, "start")).to.deep.equal([]);
  });
});

describe("the handle of a player", () => {
  const site = duringSuite(openFeatureSite);

  afterEach(() => site.closePages());

  it("lets a script of the page play, pause, seek, change the speed and stop", async () => {
    await site.configure(playerConfig());
    const { page, untilPlaying } = await site.open(longArticle);
    await player(page);
    const call = <T>(use: (handle: PlayerHandle) => T): Promise<T> =>
      page.evaluate(`(${use})(document.querySelector("voxledger-player").player)`) as Promise<T>;
    const untilStatus = (status: string) =>
      page.waitForFunction(
        (expected) => document.querySelector("voxledger-player").player.state.status === expected,
        status,
      );
    await page.locator("#outside").click(); // browsers allow audio after a click
    await call((handle) => handle.play());
    await untilPlaying();
    await call((handle) => handle.pause());
    await untilStatus("paused");
    await call((handle) => handle.setSpeed(1.5));
    await call((handle) => handle.play());
    await untilStatus("playing");
    await call((handle) => handle.seek(handle.state.totalSeconds * 0.9));
    await page.waitForFunction(() => document.querySelector("voxledger-player").player.state.paragraph === 3);
    expect(await call((handle) => handle.state)).to.include({ paragraphCount: 3, speed: 1.5 });
    expect(await players(page).getByRole("combobox", { name: "Speed" }).inputValue()).to.equal("1.5");
    await call((handle) => handle.stop());
    await untilStatus("idle");
    const refused = await call((handle) => {
      try {
        handle.setSpeed(Number.NaN);
        return "accepted";
      } catch (error) {
        return String(error);
      }
    });
    expect(refused).to.equal("RangeError: speed must be 0.25 to 4, not NaN.");
  });

  it("starts nothing by a click on a text before the first start of its article", async () => {
    await site.configure(playerConfig());
    const other = "<article><p>Another article.</p></article>";
    const { page, untilSpoken, untilPlaying, texts } = await site.open(`${longArticle}${other}`);
    await playButton(await player(page)).click();
    await untilPlaying();
    await page.getByText("Another article.").click();
    await page.locator("article p").first().click();
    await page.locator("p[data-voxledger-speaking]").waitFor();
    await untilSpoken(new RegExp(`^${first}`));
    expect(texts()).to.not.include("Another article.");
  });
});
