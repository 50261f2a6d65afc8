import { expect } from "chai";
import type { Page } from "playwright-core";
import { openBrowser } from "../support/browser.ts";
import { admin, registerWebsite } from "../support/client.ts";
import { type SpeechWindow, speechPage } from "../support/client-library/speech-page.ts";
import { duringSuite } from "../support/during.ts";
import { startServiceForBrowser } from "../support/in-process-service.ts";
import { type LocalServer, servePage } from "../support/local-server.ts";

declare const window: SpeechWindow & { readonly questions: number; readonly failures: readonly string[] };

/**
 * WebKit's rule on iOS, which Chromium lacks: an element may play after `play` was called in a user
 * gesture.
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

describe("the client library in a browser that restricts autoplay", () => {
  const service = duringSuite(startServiceForBrowser);
  const browser = duringSuite(openBrowser);
  const website = duringSuite(() => registerWebsite(service.url));
  let site: LocalServer;

  afterEach(async () => {
    await browser.closePages();
    await site.close();
  });

  /**
   * Opens a page and waits until it logs "ready". Evaluating code in the page would count as a user
   * gesture.
   */
  const open = async (script: string, environment = "{ audio }"): Promise<Page> => {
    const config = { apiKey: website.apiKey, defaultVoice: "UK English Female" };
    site = await servePage(() => speechPage(`${service.url}/client.js`, config, { script, environment }));
    await admin(service.url, "PUT", `/websites/${website.id}/origins`, { origins: [site.url] });
    const page = await browser.context.newPage();
    const ready = page.waitForEvent("console", (message) => message.text() === "ready");
    await page.goto(site.url);
    await ready;
    return page;
  };

  it("plays audio that is received after the user gesture, and a second speech without a gesture", async () => {
    const page = await open(
      `${elementsNeedGestures}
      window.text = "The gesture has ended before the audio is received.";
      speech.on("OnReady", () => console.log("ready"));
      speech.on("OnStart", () => console.log("started"));
      speech.on("OnEnd", () => speech.speak("A second speech."));`,
      `{ audio, askToSpeak: () => { console.log("blocked"); return new Promise(() => {}); } }`,
    );
    const log: string[] = [];
    const bothStarted = page.waitForEvent("console", (message) => {
      if (message.type() === "log") log.push(message.text());
      return log.length === 2 || log.includes("blocked");
    });
    await page.click("#speak");
    await bothStarted;
    expect(log).to.deep.equal(["started", "started"]);
  });

  it("fails with NOT_ALLOWED when the user refuses, and asks again at the next speech", async () => {
    const script = `window.failures = [];
      const say = (text) => speech.speak(text).catch(({ code }) => failures.push(code));
      speech.on("OnReady", async () => {
        await say("One.");
        await say("Two.");
        console.log("ready");
      });`;
    const page = await open(script, "{ audio, askToSpeak: () => Promise.reject(++window.questions) }");
    expect(await page.evaluate(() => [window.failures, window.questions])).to.deep.equal([
      ["NOT_ALLOWED", "NOT_ALLOWED"],
      2,
    ]);
  });
});
