import { expect } from "chai";
import type { Page, Request } from "playwright-core";
import type { EventKind } from "../../src/client/voxledger.ts";
import { openBrowser } from "../support/browser.ts";
import { admin, bytesOf, registerWebsite, synthesize } from "../support/client.ts";
import {
  clickSpeak,
  eventTypes,
  type RecordedEvent,
  recordedEvents,
  type SpeechWindow,
  speechPage,
  waitForEvent,
} from "../support/client-library/speech-page.ts";
import {
  type StubResponse,
  startStubServer,
  configResponse as voiceConfig,
} from "../support/client-library/stub-server.ts";
import { duringSuite } from "../support/during.ts";
import { startServiceForBrowser } from "../support/in-process-service.ts";
import { type LocalServer, servePage } from "../support/local-server.ts";

const corsHeaders = { "Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "X-API-Key" };

declare const window: SpeechWindow & { utterances: string[] };

/** Installs a `speechSynthesis` with these voices: Debian's Chromium has none. */
const browserVoices = (names: readonly string[]): void => {
  const lang = (name: string) => (name.includes("UK") ? "en-GB" : "de-DE");
  const voices = names.map((name) => ({
    name,
    lang: lang(name),
    voiceURI: name,
    localService: false,
    default: false,
  }));
  window.utterances = [];
  const speak = (utterance: { voice: { name: string }; onstart(): void; onend(): void }) => {
    window.utterances.push(utterance.voice.name);
    setTimeout(() => utterance.onstart());
    setTimeout(() => utterance.onend());
  };
  const noop = () => {};
  const speechSynthesis = {
    getVoices: () => voices,
    speak,
    cancel: noop,
    pause: noop,
    resume: noop,
  };
  Object.defineProperty(window, "speechSynthesis", {
    value: { ...speechSynthesis, addEventListener: noop },
  });
  Object.defineProperty(window, "SpeechSynthesisUtterance", { value: class {} });
};

describe("the client library in a browser", () => {
  const service = duringSuite(startServiceForBrowser);
  const browser = duringSuite(openBrowser);
  const website = duringSuite(() => registerWebsite(service.url));
  let config: object = {};
  let script = "";
  const sites: LocalServer[] = [];

  const serveSite = async (): Promise<LocalServer> => {
    const site = await servePage(() =>
      speechPage(`${service.url}/client.js`, { apiKey: website.apiKey, ...config }, { script }),
    );
    sites.push(site);
    return site;
  };
  /** A stub service with these synthesis responses and CORS for all origins. */
  const serveStub = async (sound: () => StubResponse): Promise<LocalServer> => {
    const server = await startStubServer(({ method, url = "" }) => {
      const response = url.startsWith("/v2/text/") && method === "GET" ? sound() : voiceConfig;
      return { ...response, headers: { ...response.headers, ...corsHeaders } };
    });
    sites.push(server);
    return server;
  };
  const verifyOrigins = (id: string, ...origins: string[]) =>
    admin(service.url, "PUT", `/websites/${id}/origins`, { origins });
  const eventsOf = async (page: Page, kind: EventKind): Promise<RecordedEvent[]> =>
    (await recordedEvents(page)).filter(({ type }) => type === kind);

  /** Opens the page and waits for OnReady. */
  const open = async ({ url }: LocalServer): Promise<Page> => {
    const page = await browser.context.newPage();
    await page.goto(url);
    await waitForEvent(page, "OnReady");
    return page;
  };

  beforeEach(() => {
    config = {};
    script = "";
  });
  afterEach(async () => {
    await browser.closePages();
    await Promise.all(sites.splice(0).map((site) => site.close()));
  });

  it("speaks on a page of a verified origin, with the key alone", async () => {
    const site = await serveSite();
    await verifyOrigins(website.id, site.url);
    const page = await open(site);
    const requests: Request[] = [];
    page.on("request", (request) => requests.push(request));
    await clickSpeak(page, "Hello from a page.", { rate: 2 });
    await waitForEvent(page, "OnEnd");
    expect(await eventTypes(page)).to.deep.equal([
      "OnLoad",
      "OnReady",
      "OnClickEvent",
      "OnVoiceResolved",
      "OnStart",
      "OnPartStart",
      "OnPartEnd",
      "OnEnd",
    ]);
    const [audio, ...others] = await page.evaluate(() => window.played);
    expect(others).to.deep.equal([]);
    expect(audio?.duration).to.be.within(0.5, 5);
    expect(audio?.position).to.be.closeTo(audio?.duration ?? 0, 0.1);
    expect(await page.evaluate(() => window.spoken)).to.deep.equal({ cancelled: false });
    const [synthesis] = requests.filter((request) => request.url().includes("/v2/text/synthesize"));
    const headers = (await synthesis?.allHeaders()) ?? {};
    expect(headers).to.include({ origin: site.url });
    expect(new URL(synthesis?.url() ?? "").searchParams.get("key")).to.equal(website.apiKey);
    expect(headers).to.not.have.any.keys("authorization", "x-api-key", "x-api-secret", "cookie");
  });

  it("plays a long text in parts, with their offsets", async () => {
    const site = await serveSite();
    await verifyOrigins(website.id, site.url);
    const page = await open(site);
    const text = `${"One sentence follows the other here. ".repeat(8)}And here is the end.`;
    await clickSpeak(page, text, { rate: 2 });
    await page.evaluate(() => window.spoken);
    const events = await recordedEvents(page);
    const parts = events.filter(({ type }) => type === "OnPartStart");
    expect(parts.length).to.equal(2);
    for (const { charIndex, text: part } of parts) {
      expect(text.startsWith(String(part), Number(charIndex))).to.equal(true);
    }
    const order = events.map(({ type, index }) => (index === undefined ? type : `${type} ${index}`));
    expect(order.slice(-6)).to.deep.equal([
      "OnStart",
      "OnPartStart 0",
      "OnPartEnd 0",
      "OnPartStart 1",
      "OnPartEnd 1",
      "OnEnd",
    ]);
    expect(await page.evaluate(() => window.played.length)).to.equal(2);
  });

  it("pauses, resumes and cancels playback", async () => {
    const site = await serveSite();
    await verifyOrigins(website.id, site.url);
    // In the page, because the audio could end before a test that waits for the event has reacted.
    script = `const actions = [() => speech.pause(), () => speech.cancel()];
      speech.on("OnPartStart", () => actions.shift()());`;
    const page = await open(site);
    await clickSpeak(page, "This is paused and resumed.");
    await waitForEvent(page, "OnPause");
    expect(await page.evaluate(() => window.audio.paused)).to.equal(true);
    await page.evaluate(() => window.speech.resume());
    await waitForEvent(page, "OnEnd");
    expect((await eventTypes(page)).slice(-6)).to.deep.equal([
      "OnStart",
      "OnPartStart",
      "OnPause",
      "OnResume",
      "OnPartEnd",
      "OnEnd",
    ]);
    await clickSpeak(page, "This is cancelled before its end.");
    await waitForEvent(page, "OnEnd", 2);
    expect((await recordedEvents(page)).at(-1)).to.include({ type: "OnEnd", cancelled: true });
    expect(await page.evaluate(() => window.audio.paused)).to.equal(true);
  });

  it("asks the user if the browser blocks audio, and speaks after a click", async () => {
    const site = await serveSite();
    await verifyOrigins(website.id, site.url);
    // Code that a test evaluates counts as a user gesture, so the page itself speaks.
    script = `new MutationObserver(() => console.log("blocked")).observe(document.body, { childList: true });
      speech.speak("May I?");`;
    const page = await browser.context.newPage();
    const blocked = page.waitForEvent("console", (message) => message.text() === "blocked");
    await page.goto(site.url);
    await blocked;
    await page.getByRole("button", { name: "Allow speech" }).click();
    await waitForEvent(page, "OnEnd");
    const order = await eventTypes(page);
    expect(order.slice(2)).to.deep.equal([
      "OnVoiceResolved",
      "OnClickEvent",
      "OnAllowSpeechClicked",
      "OnStart",
      "OnPartStart",
      "OnPartEnd",
      "OnEnd",
    ]);
    expect(await page.getByRole("button", { name: "Allow speech" }).count()).to.equal(0);
  });

  it("fires OnServiceSwitched if a native voice is preferred and there is none", async () => {
    config = { preferNative: true };
    const site = await serveSite();
    await verifyOrigins(website.id, site.url);
    const page = await open(site);
    await clickSpeak(page, "Hello from a page.", { rate: 2 });
    await waitForEvent(page, "OnEnd");
    const switched = await eventsOf(page, "OnServiceSwitched");
    expect(switched).to.have.length(1);
    expect(switched[0]).to.include({ from: "native", to: "g1" });
  });

  it("uses the browser's own voice if it exists, and the service otherwise", async () => {
    const site = await serveSite();
    await verifyOrigins(website.id, site.url);
    config = { preferNative: true };
    const page = await browser.context.newPage();
    await page.addInitScript(browserVoices, ["Google UK English Female", "Google Deutsch"]);
    await page.goto(site.url);
    await waitForEvent(page, "OnReady");
    const results = await page.evaluate(async () => {
      const natives = [];
      for (const voice of ["UK English Female", "UK English Male"]) {
        await window.speech.speak("Hello.", { voice, rate: 2 });
        natives.push([voice, window.events.findLast(({ type }) => type === "OnVoiceResolved")?.native]);
      }
      return natives;
    });
    expect(results).to.deep.equal([
      ["UK English Female", true],
      ["UK English Male", false],
    ]);
    expect(await page.evaluate(() => window.utterances)).to.deep.equal(["Google UK English Female"]);
  });

  it("fires onboundary for the words of a service voice, while they are played", async () => {
    const site = await serveSite();
    await verifyOrigins(website.id, site.url);
    const page = await open(site);
    const boundaries = await page.evaluate(async () => {
      const fired: [name: string, word: string, elapsedTime: number][] = [];
      const text = "\u{1F642} Un été, deux hivers.";
      await window.speech.speak(text, {
        lang: "fr-FR",
        onboundary: (
          charIndex: number,
          name: string,
          boundary: { charLength: number; elapsedTime: number },
        ) => fired.push([name, text.slice(charIndex, charIndex + boundary.charLength), boundary.elapsedTime]),
      });
      return fired;
    });
    const words = boundaries.flatMap(([name, word]) => (name === "word" ? [word] : []));
    expect(words).to.include.members(["Un", "été", "deux", "hivers"]);
    const times = boundaries.map(([, , elapsedTime]) => elapsedTime);
    expect(times).to.deep.equal(times.toSorted((a, b) => a - b));
  });

  it("fails with 401 on a page whose origin is verified for another website", async () => {
    const site = await serveSite();
    const other = await registerWebsite(service.url);
    await verifyOrigins(other.id, site.url);
    const page = await browser.context.newPage();
    const refusals: number[] = [];
    page.on("response", (response) => {
      if (response.url().includes("/v2/")) refusals.push(response.status());
    });
    await page.goto(site.url);
    await waitForEvent(page, "OnError");
    await clickSpeak(page, "Hello from a page.", { rate: 2 });
    const error = await page.evaluate(() =>
      window.spoken.then(String, ({ status, code }) => ({ status, code })),
    );
    expect(error).to.deep.equal({ status: 401, code: "UNAUTHORIZED" });
    expect(refusals).to.deep.equal([401, 401]);
    const errors = await eventsOf(page, "OnError");
    expect(errors.map(({ code }) => code)).to.deep.equal(["UNAUTHORIZED", "UNAUTHORIZED"]);
    expect((await eventTypes(page)).filter((kind) => /OnReady|OnStart/.test(kind))).to.deep.equal([]);
  });

  it("reports 401 for an unverified origin, although the browser hides the response", async () => {
    const [site, neighbour] = [await serveSite(), await serveSite()];
    await verifyOrigins(website.id, site.url);
    const page = await browser.context.newPage();
    await page.goto(neighbour.url);
    await waitForEvent(page, "OnError");
    const [error] = await eventsOf(page, "OnError");
    expect(error).to.include({ code: "UNAUTHORIZED" });
    expect(error?.message).to.match(/origin is not a verified origin/);
  });

  it("tells that something blocks the API, if only the service's health can be read", async () => {
    const site = await serveSite();
    await verifyOrigins(website.id, site.url);
    const page = await browser.context.newPage();
    await page.route(/\/v2\//, (route) => route.abort("blockedbyclient"));
    await page.goto(site.url);
    await waitForEvent(page, "OnError");
    const [error] = await eventsOf(page, "OnError");
    expect(error).to.include({ code: "NETWORK" });
    expect(error?.message).to.match(/requests to \/v2 fail/);
  });

  it("verifies its origin with the operator's token", async () => {
    await verifyOrigins(website.id);
    const site = await serveSite();
    const { body } = await admin(service.url, "POST", `/websites/${website.id}/verifications`, {
      origin: site.url,
    });
    const page = await browser.context.newPage();
    await page.goto(site.url);
    await waitForEvent(page, "OnError");
    const proof = await page.evaluate((token) => window.speech.verifyOrigin(token), String(body.token));
    expect(proof).to.deep.equal({ verified: true, origin: site.url });
    await clickSpeak(page, "Hello from a page.", { rate: 2 });
    await waitForEvent(page, "OnEnd");
  });

  it("applies rate and volume that the service did not apply", async () => {
    const speech = await bytesOf(
      await synthesize(service.url, website, { voice: "UK English Female", text: "A second text." }),
    );
    const stub = await serveStub(() => ({ headers: { "Content-Type": "audio/mpeg" }, body: speech }));
    config = { baseUrl: stub.url };
    const page = await open(await serveSite());
    await page.evaluate(() => {
      void window.speech.speak("A second text.", { rate: 1.5, volume: 0.25 });
    });
    await waitForEvent(page, "OnPartStart");
    expect(await page.evaluate(() => [window.audio.playbackRate, window.audio.volume])).to.deep.equal([
      1.5, 0.25,
    ]);
    await waitForEvent(page, "OnEnd");
  });

  it("fails with PLAYBACK_FAILED for data that is not audio", async () => {
    const stub = await serveStub(() => ({ headers: { "Content-Type": "audio/mpeg" }, body: "not audio" }));
    config = { baseUrl: stub.url };
    const page = await open(await serveSite());
    await clickSpeak(page, "Hello from a page.", { rate: 2 });
    await waitForEvent(page, "OnError");
    expect((await recordedEvents(page)).at(-1)).to.include({ type: "OnError", code: "PLAYBACK_FAILED" });
  });

  it("reports the browser's voices and platform", async () => {
    const site = await serveSite();
    await verifyOrigins(website.id, site.url);
    const page = await open(site);
    const report = page.waitForRequest(/\/v2\/voices\/report$/);
    const response = await page.evaluate(() => window.speech.reportVoices());
    const { platform } = (await report).postDataJSON();
    expect(platform).to.include({ browser: "Chromium", os: "Linux", deviceType: "desktop" });
    expect(platform.browserVersion).to.match(/^\d+\./);
    expect(response.count).to.be.above(200);
  });
});
