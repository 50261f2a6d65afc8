import { expect } from "chai";
import type { Page } from "playwright-core";
import { type Browser, launchBrowser } from "../support/browser.ts";
import { admin, type Credentials, registerWebsite } from "../support/client.ts";
import { type SpeechWindow, speechPage } from "../support/client-library/speech-page.ts";
import { type LocalServer, servePage } from "../support/local-server.ts";
import { type RunningService, startService, temporaryFolder } from "../support/service.ts";

declare const window: SpeechWindow & { readonly asked: number; readonly failures: readonly string[] };

/**
 * The rule of WebKit on iOS, which Chromium does not have: an element may play once its `play` was called while an event
 * of the user is being handled.
 */
const elementsNeedGestures = `
  const play = HTMLMediaElement.prototype.play;
  const allowed = new WeakSet();
  let isHandlingClick = false;
  addEventListener("click", () => { isHandlingClick = true; setTimeout(() => { isHandlingClick = false; }); }, true);
  HTMLMediaElement.prototype.play = function () {
    if (isHandlingClick) allowed.add(this);
    return allowed.has(this) ? play.call(this) : Promise.reject(new DOMException("Refused.", "NotAllowedError"));
  };`;

describe("a page whose browser restricts autoplay", () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let service: RunningService;
  let browser: Browser;
  let website: Credentials;
  let site: LocalServer;

  before(async function () {
    this.timeout(60_000);
    folder = await temporaryFolder();
    [service, browser] = await Promise.all([startService(folder.path), launchBrowser()]);
    website = await registerWebsite(service.url);
  });
  afterEach(async () => {
    await Promise.all(browser.context.pages().map((page) => page.close()));
    await site.close();
  });
  after(async () => {
    await browser.close();
    await service.stop();
    await folder.remove();
  });

  /** Opens a page and waits until it logs "ready": evaluating anything in it would count as a gesture. */
  const open = async (then: string, given = "{ audio }"): Promise<Page> => {
    const config = { apiKey: website.apiKey, defaultVoice: "UK English Female" };
    site = await servePage(() => speechPage(`${service.url}/client.js`, config, then, given));
    await admin(service.url, "PUT", `/websites/${website.id}/origins`, { origins: [site.url] });
    const page = await browser.context.newPage();
    const ready = page.waitForEvent("console", (message) => message.text() === "ready");
    await page.goto(site.url);
    await ready;
    return page;
  };

  it("speaks after the gesture that called `speak` is over, and speaks again without another", async () => {
    const page = await open(
      `${elementsNeedGestures}
      window.text = "The gesture is over before the sound has come.";
      speech.on("OnReady", () => console.log("ready"));
      speech.on("OnStart", () => console.log("heard"));
      speech.on("OnEnd", () => speech.speak("Once more."));`,
      `{ audio, askToSpeak: () => { console.log("asked"); return new Promise(() => {}); } }`,
    );
    const said: string[] = [];
    const isDecided = page.waitForEvent("console", (message) => {
      if (message.type() === "log") said.push(message.text());
      return said.length === 2 || said.includes("asked");
    });
    await page.click("#speak");
    await isDecided;
    expect(said).to.deep.equal(["heard", "heard"]);
  });

  it("fails with NOT_ALLOWED when the user refuses, and asks again for the next speech", async () => {
    const then = `window.failures = [];
      const say = (text) => speech.speak(text).catch(({ code }) => failures.push(code));
      speech.on("OnReady", async () => {
        await say("One.");
        await say("Two.");
        console.log("ready");
      });`;
    const page = await open(then, "{ audio, askToSpeak: () => Promise.reject(++window.asked) }");
    expect(await page.evaluate(() => [window.failures, window.asked])).to.deep.equal([
      ["NOT_ALLOWED", "NOT_ALLOWED"],
      2,
    ]);
  });
});
