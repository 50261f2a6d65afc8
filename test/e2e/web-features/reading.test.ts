import { execFile } from "node:child_process";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { expect } from "chai";
import type { Locator, Page } from "playwright-core";
import { type FeatureWindow, openFeatureSite } from "../../support/client-library/feature-page.ts";
import { duringSuite } from "../../support/during.ts";
import { playButton, player, playerConfig, players } from "./article.ts";

declare const window: FeatureWindow;

const numbers = ["One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight"];
const words = "night trains leave the city at nine in the evening and reach the sea by morning";
/** Paragraphs of one part, whose speech takes about seven seconds. */
const paragraph = (index: number): string => `${numbers[index]} ${words}, while ${words}.`;
const articleOf = (count: number, text = paragraph): string =>
  `<article>${Array.from({ length: count }, (_, index) => `<p id="p${index}">${text(index)}</p>`).join("\n")}</article>`;

const secondsOf = (time: string): number => {
  const [minutes = 0, seconds = 0] = time.trim().split(":").map(Number);
  return minutes * 60 + seconds;
};

/** The elapsed and the whole time that a player shows, in seconds. */
const shownTimes = async (shown: Locator): Promise<number[]> =>
  ((await shown.locator(".time").textContent()) ?? "").split("/").map(secondsOf);

/** Records the times that the first player shows while it reads. */
const recordTimes = `
  window.shownTimes = [];
  setInterval(() => {
    const root = document.querySelector("voxledger-player")?.shadowRoot;
    if (root?.querySelector(".play").title !== "Pause") return;
    shownTimes.push(root.querySelector(".time").textContent);
  }, 50);`;

/** Records the handlers that a page gives to the system's media controls. */
const recordMediaSession = `
  window.mediaActions = {};
  const set = navigator.mediaSession.setActionHandler.bind(navigator.mediaSession);
  navigator.mediaSession.setActionHandler = (action, handler) => {
    mediaActions[action] = handler;
    set(action, handler);
  };
  window.positions = [];
  const setPosition = navigator.mediaSession.setPositionState.bind(navigator.mediaSession);
  navigator.mediaSession.setPositionState = (state) => { positions.push(state); setPosition(state); };`;

/** The page's policy forbids `waitForFunction` with an expression. */
const until = async (page: Page, expression: string): Promise<void> => {
  while (!(await page.evaluate(expression))) await setTimeout(100);
};

const position = (shown: Locator): Locator => shown.getByRole("slider", { name: "Position" });
const at = (shown: Locator, n: number, count: number): Promise<void> =>
  shown.locator(`[aria-valuetext="Paragraph ${n} of ${count}"]`).waitFor();

/** The audio that plays is this far. */
const currentTime = (page: Page): Promise<number> =>
  page.evaluate(() => Math.max(...window.audios.map((audio) => audio.currentTime)));

interface Probed {
  readonly streams: readonly { codec_name: string; sample_rate: string; nb_read_packets: string }[];
  readonly format: { readonly duration: string };
}

const probe = async (file: string): Promise<Probed> => {
  const { stdout } = await promisify(execFile)("ffprobe", [
    ...["-v", "error", "-count_packets", "-show_entries", "stream=codec_name,sample_rate,nb_read_packets"],
    ...["-show_entries", "format=duration", "-of", "json", file],
  ]);
  return JSON.parse(stdout);
};

describe("the time and the place of a reading", () => {
  const site = duringSuite(openFeatureSite);

  beforeEach(() => site.configure(playerConfig()));
  afterEach(() => site.closePages());

  it("counts the audio that was played: its clock stands while audio is awaited, and never runs back", async () => {
    const feature = await site.open(
      articleOf(3, (index) => `${numbers[index]} trains leave the city.`),
      { prepare: (opened) => opened.addInitScript(recordTimes) },
    );
    const { page } = feature;
    const shown = await player(page);
    const network = await page.context().newCDPSession(page);
    await network.send("Network.emulateNetworkConditions", {
      offline: false,
      latency: 0,
      downloadThroughput: 3_000,
      uploadThroughput: -1,
    });
    await playButton(shown).click();
    const waiting = shown.getByRole("status").filter({ hasText: "Waiting…" });
    await waiting.waitFor();
    await feature.untilPlaying();
    await waiting.waitFor({ state: "hidden" });
    await waiting.waitFor(); // for the second part
    expect(await playButton(shown).getAttribute("aria-busy")).to.equal("true");
    await feature.untilEnded(3);
    const times = (await page.evaluate<string[]>("shownTimes")).map((text) => text.split("/").map(secondsOf));
    const elapsed = times.map(([seconds = 0]) => seconds);
    expect(elapsed).to.deep.equal([...elapsed].sort((a, b) => a - b));
    const durations = await page.evaluate<number>("playedSeconds");
    expect(elapsed.at(-1)).to.be.closeTo(durations, 1);
    expect(times.at(-1)?.[1]).to.be.closeTo(durations, 1);
  });

  it("seeks to a word, and starts at the word that is clicked, without another synthesis", async () => {
    const feature = await site.open(articleOf(3));
    const { page } = feature;
    const shown = await player(page);
    await position(shown).fill("500");
    await at(shown, 2, 3);
    await playButton(shown).click();
    await feature.untilPlaying();
    const middle = await currentTime(page);
    expect(middle).to.be.above(2);
    await page.locator("#p2").click(); // in its middle
    await at(shown, 3, 3);
    await page.locator("#p2[data-voxledger-speaking]").waitFor();
    await feature.untilPlaying();
    expect(await currentTime(page)).to.be.above(2);
    expect(new Set(feature.texts())).to.have.property("size", 2); // the first paragraph was never asked for
    expect(feature.texts()).to.have.length(2);
  });

  it("stays paused when the reader seeks, and plays from there when it is resumed", async () => {
    const feature = await site.open(articleOf(4));
    const { page } = feature;
    const shown = await player(page);
    await playButton(shown).click();
    await feature.untilPlaying();
    await shown.getByRole("button", { name: "Pause" }).click();
    // `Response.finished` never resolves for the loads that the seek aborts.
    const isLoaded = page.waitForEvent("requestfinished", (request) => /\/audio\/.*mp3/.test(request.url()));
    await position(shown).fill("970");
    await isLoaded;
    await at(shown, 4, 4);
    const resume = shown.getByRole("button", { name: "Resume" });
    expect(await resume.count()).to.equal(1);
    expect(await page.evaluate(() => window.audios.every(({ paused }) => paused))).to.equal(true);
    await resume.click();
    await page.locator("#p3[data-voxledger-speaking]").waitFor();
    await feature.untilPlaying();
    expect(await currentTime(page)).to.be.above(2);
    await page.evaluate("localStorage.clear()");
  });

  it("stays paused when the reader pauses while the audio starts", async () => {
    const pauseFirst = `
      const Original = window.Audio;
      window.Audio = class extends Original {
        constructor() {
          super();
          this.addEventListener("playing", () => {
            if (this.duration < 1) return; // the silence that unlocks playback
            document.querySelector("voxledger-player").player.pause();
            window.hasPaused = true;
          });
        }
      };`;
    const { page } = await site.open(articleOf(1), { prepare: (opened) => opened.addInitScript(pauseFirst) });
    const shown = await player(page);
    await playButton(shown).click();
    await until(page, "window.hasPaused");
    expect(await playButton(shown).getAttribute("title")).to.equal("Resume");
    expect(await page.evaluate("navigator.mediaSession.playbackState")).to.equal("paused");
  });

  it("continues at the place and with the speed at which the article was left", async () => {
    const body = articleOf(4);
    const feature = await site.open(body);
    const shown = await player(feature.page);
    await shown.getByRole("combobox", { name: "Speed" }).selectOption("1.5");
    await position(shown).fill("600");
    await playButton(shown).click();
    await feature.page.locator("#p2[data-voxledger-speaking]").waitFor();
    await shown.getByRole("button", { name: "Pause" }).click();
    const [left] = await shownTimes(shown);
    const stored = await feature.page.evaluate<string>("localStorage.getItem('voxledger-places')");
    expect(stored).to.include('"speed":1.5').and.not.include("trains");
    await feature.page.close();
    const again = await site.open(body);
    const opened = await player(again.page);
    await at(opened, 3, 4);
    expect((await shownTimes(opened))[0]).to.equal(left);
    expect(await opened.getByRole("combobox", { name: "Speed" }).inputValue()).to.equal("1.5");
    await playButton(opened).click();
    await again.page.locator("#p2[data-voxledger-speaking]").waitFor();
    await again.page.evaluate("localStorage.clear()");
    const other = await site.open(articleOf(4, (index) => `Another ${index}.`));
    expect((await shownTimes(await player(other.page)))[0]).to.equal(0);
  });

  it("works where the page may not store anything", async () => {
    const refuse = `Object.defineProperty(window, "localStorage", { get: () => { throw new DOMException("no"); } })`;
    const feature = await site.open(articleOf(2), { prepare: (page) => page.addInitScript(refuse) });
    const shown = await player(feature.page);
    await playButton(shown).click();
    await feature.untilPlaying();
    await shown.getByRole("button", { name: "Pause" }).click();
    expect(feature.complaints).to.deep.equal([]);
  });

  it("begins at the time in the page's address, and copies a link to the current time", async () => {
    const feature = await site.open(articleOf(4));
    const { page } = feature;
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.goto(`${site.site.url}/#t=0:12`);
    await page.reload();
    const shown = await player(page);
    expect((await shownTimes(shown))[0]).to.equal(12);
    await at(shown, 2, 4);
    expect(feature.texts()).to.deep.equal([]);
    await page.evaluate("location.hash = '#t=25'");
    await at(shown, 3, 4);
    await shown.getByRole("button", { name: "Copy link at this time" }).click();
    await shown.getByRole("status").filter({ hasText: "Link copied" }).waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).to.equal(`${site.site.url}/#t=0:25`);
    await page.evaluate("localStorage.clear()");
  });

  it("is controlled from the lock screen until it ends", async () => {
    const feature = await site.open(`<h1>Railways</h1>${articleOf(4)}`, {
      prepare: (opened) => opened.addInitScript(recordMediaSession),
    });
    const { page } = feature;
    const shown = await player(page);
    expect(await page.evaluate("Object.keys(mediaActions).length")).to.equal(0);
    await playButton(shown).click();
    await feature.untilPlaying();
    expect(await page.evaluate("navigator.mediaSession.metadata.title")).to.equal("A website");
    const act = (action: string, details = {}) =>
      page.evaluate(`mediaActions.${action}(${JSON.stringify(details)})`);
    await act("nexttrack");
    await at(shown, 2, 4);
    await act("previoustrack");
    await at(shown, 1, 4);
    const { duration } = await page.evaluate<{ duration: number }>("positions.at(-1)");
    await act("seekto", { seekTime: duration * 0.6 });
    await at(shown, 3, 4);
    await act("seekbackward", { seekOffset: duration * 0.4 });
    await at(shown, 1, 4);
    await act("seekforward", { seekOffset: duration * 0.4 });
    await at(shown, 3, 4);
    await act("pause");
    await shown.getByRole("button", { name: "Resume" }).waitFor();
    expect(await page.evaluate("navigator.mediaSession.playbackState")).to.equal("paused");
    await act("play");
    await shown.getByRole("button", { name: "Pause" }).waitFor();
    await until(page, "positions.some((state) => state?.position > 0 && state.duration > state.position)");
    await act("stop");
    await shown.getByRole("button", { name: "Listen" }).waitFor();
    expect(
      await page.evaluate("Object.values(mediaActions).filter((handler) => handler !== null)"),
    ).to.deep.equal([]);
    expect(await page.evaluate("navigator.mediaSession.metadata")).to.equal(null);
    await page.evaluate("localStorage.clear()");
  });

  it("leaves the lock screen to the article that was started last", async () => {
    const feature = await site.open(`${articleOf(2)}${articleOf(2, (index) => `Other ${index} ${words}.`)}`, {
      prepare: (opened) => opened.addInitScript(recordMediaSession),
    });
    const { page } = feature;
    await playButton(await player(page)).click();
    await feature.untilPlaying();
    await playButton(players(page).nth(1)).click();
    await players(page).first().getByRole("button", { name: "Listen" }).waitFor();
    await players(page).nth(1).getByRole("button", { name: "Pause" }).waitFor();
    await page.evaluate("mediaActions.pause()");
    await players(page).nth(1).getByRole("button", { name: "Resume" }).waitFor();
  });

  it("scrolls with the reading, until the reader scrolls", async () => {
    const css = "p { margin-block: 900px }";
    const feature = await site.open(articleOf(4), { css });
    const { page } = feature;
    const shown = await player(page);
    const isInView = (index: number) =>
      `(() => { const { top, bottom } = document.querySelector("#p${index}").getBoundingClientRect();
        return top < innerHeight && bottom > 0; })()`;
    await position(shown).fill("300");
    await playButton(shown).click();
    await until(page, isInView(1));
    await page.evaluate("scrollTo(0, 0)");
    await page.mouse.wheel(0, 10);
    await feature.untilEnded(1);
    await page.locator("#p2[data-voxledger-speaking]").waitFor();
    await feature.untilPlaying();
    expect(await page.evaluate(isInView(2))).to.equal(false);
    await page.evaluate("scrollTo(0, 0)");
    await position(shown).fill("900"); // a seek scrolls again
    await until(page, isInView(3));
    await page.emulateMedia({ reducedMotion: "reduce" });
    await page.evaluate("scrollTo(0, 0)");
    await position(shown).fill("10");
    const before = await page.evaluate("scrollY");
    await page.locator("#p0[data-voxledger-speaking]").waitFor();
    await feature.untilPlaying();
    expect(await page.evaluate(isInView(0))).to.equal(false);
    expect(await page.evaluate("scrollY")).to.equal(before);
    await page.evaluate("localStorage.clear()");
  });

  it("downloads the article as one file that plays as long as its parts, for no further charge", async () => {
    const feature = await site.open(articleOf(3));
    const { page } = feature;
    const shown = await player(page);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      shown.getByRole("button", { name: "Download" }).click(),
    ]);
    expect(download.suggestedFilename()).to.equal("A website.mp3");
    const { streams, format } = await probe((await download.path()) ?? "");
    expect(streams).to.have.length(1);
    expect(streams[0]?.codec_name).to.equal("mp3");
    const decoded = (Number(streams[0]?.nb_read_packets) * 576) / Number(streams[0]?.sample_rate);
    expect(Number(format.duration)).to.be.closeTo(decoded, 0.1);
    await shown.getByRole("combobox", { name: "Speed" }).selectOption("2");
    await playButton(shown).click();
    await feature.untilEnded(3);
    const played = await page.evaluate<number>("playedSeconds");
    expect(decoded).to.be.closeTo(played, 0.2);
    expect(feature.texts()).to.have.length(3);
  });

  it("downloads an article in two languages, whose voices have different sample rates", async () => {
    await site.configure(playerConfig({ voice: "US English Female" }));
    const { page } = await site.open(
      `<article lang="en"><p>The train leaves in the evening.</p><p lang="ar">القطار يصل في الصباح.</p></article>`,
    );
    const shown = await player(page);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      shown.getByRole("button", { name: "Download" }).click(),
    ]);
    const { streams, format } = await probe((await download.path()) ?? "");
    expect(download.suggestedFilename()).to.equal("A website.wav");
    expect(streams[0]).to.include({ codec_name: "pcm_s16le", sample_rate: "24000" });
    expect(Number(format.duration)).to.be.within(2, 8);
  });

  it("has buttons that a page may leave out, and that fit into a narrow page", async () => {
    const prepare = (opened: Page) => opened.setViewportSize({ width: 360, height: 640 });
    const { page } = await site.open(articleOf(2), { attributes: 'lang="en" dir="rtl"', prepare });
    const shown = await player(page);
    expect((await shown.boundingBox())?.height).to.be.at.most(132);
    expect(await page.evaluate("document.documentElement.scrollWidth")).to.equal(360);
    await site.configure(playerConfig({ controls: { link: false, download: false } }));
    const without = await player((await site.open(articleOf(2))).page);
    expect(await without.locator(".share").count()).to.equal(0);
    expect(await players(page).count()).to.equal(1);
  });
});
