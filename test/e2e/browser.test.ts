import { expect } from "chai";
import type { Page, Request } from "playwright-core";
import { type Browser, launchBrowser } from "../support/browser.ts";
import { admin, bytesOf, type Credentials, registerWebsite, synthesize } from "../support/client.ts";
import {
  type StubResponse,
  startStubServer,
  configResponse as voiceConfig,
} from "../support/client-library/stub-server.ts";
import { type LocalServer, servePage } from "../support/local-server.ts";
import { type RunningService, startService, temporaryFolder } from "../support/service.ts";

/** What a site would write, and a log of what came of it. */
const pageOf = (service: string, apiKey: string, config: object, then = ""): string => `<!doctype html>
<title>A website</title>
<button id="speak">Speak</button>
<script type="module">
  import { Voxledger } from "${service}/client.js";
  const kinds = ["OnLoad", "OnReady", "OnStart", "OnEnd", "OnError", "OnPause", "OnResume", "OnServiceSwitched",
    "OnClickEvent", "OnAllowSpeechClicked", "OnPartStart", "OnPartEnd", "OnVoiceResolved"];
  const audio = new Audio();
  const speech = new Voxledger({ apiKey: "${apiKey}", ...${JSON.stringify(config)} }, { audio });
  window.speech = speech;
  window.told = [];
  window.sounds = [];
  for (const kind of kinds) speech.on(kind, (event) => told.push(event));
  audio.addEventListener("ended", () => sounds.push({ seconds: audio.duration, played: audio.currentTime }));
  window.audio = audio;
  speak.onclick = () => { window.spoken = speech.speak(window.text ?? "Hello from a page.", { rate: 2 }); };
  ${then}
</script>`;

const openToPages = { "Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "X-API-Key" };

interface Told {
  readonly type: string;
  readonly timestamp: number;
  readonly [member: string]: unknown;
}

/** The window of such a page. */
interface Window {
  readonly told: readonly Told[];
  readonly sounds: readonly { readonly seconds: number; readonly played: number }[];
  text: string;
  readonly spoken: Promise<{ cancelled: boolean }>;
  utterances: string[];
  readonly audio: { readonly paused: boolean; readonly playbackRate: number; readonly volume: number };
  readonly speech: {
    speak(text: string, params?: object): Promise<unknown>;
    pause(): void;
    resume(): void;
    cancel(): void;
    verifyOrigin(token: string): Promise<unknown>;
    config(): Promise<unknown>;
    reportVoices(): Promise<{ count: number }>;
    voices(): Promise<{ voices: unknown[] }>;
  };
}
declare const window: Window;

/** Gives a page a `speechSynthesis` that has these voices: Debian's Chromium has none. */
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
  const nothing = () => {};
  const speechSynthesis = {
    getVoices: () => voices,
    speak,
    cancel: nothing,
    pause: nothing,
    resume: nothing,
  };
  Object.defineProperty(window, "speechSynthesis", {
    value: { ...speechSynthesis, addEventListener: nothing },
  });
  Object.defineProperty(window, "SpeechSynthesisUtterance", { value: class {} });
};

describe("the client library in a browser", () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let service: RunningService;
  let browser: Browser;
  let website: Credentials;
  let config: object = {};
  let then: string | undefined;
  const sites: LocalServer[] = [];

  const serveSite = async (): Promise<LocalServer> => {
    const site = await servePage(() => pageOf(service.url, website.apiKey, config, then));
    sites.push(site);
    return site;
  };
  /** A service that is made up, whose sounds are these, open to every page. */
  const madeUp = async (sound: () => StubResponse): Promise<LocalServer> => {
    const server = await startStubServer(({ method, url = "" }) => {
      const answer = url.startsWith("/v2/text/") && method === "GET" ? sound() : voiceConfig;
      return { ...answer, headers: { ...answer.headers, ...openToPages } };
    });
    sites.push(server);
    return server;
  };
  const verify = (id: string, ...origins: string[]) =>
    admin(service.url, "PUT", `/websites/${id}/origins`, { origins });
  const told = (page: Page): Promise<readonly Told[]> => page.evaluate(() => window.told);
  const kinds = async (page: Page): Promise<string[]> => (await told(page)).map(({ type }) => type);
  const until = (page: Page, kind: string) =>
    page.waitForFunction((wanted) => window.told?.some(({ type }) => type === wanted), kind);

  /** Opens the site's page and waits until it is let in. */
  const open = async ({ url }: LocalServer): Promise<Page> => {
    const page = await browser.context.newPage();
    await page.goto(url);
    await until(page, "OnReady");
    return page;
  };

  before(async function () {
    this.timeout(60_000);
    folder = await temporaryFolder();
    [service, browser] = await Promise.all([startService(folder.path), launchBrowser()]);
    website = await registerWebsite(service.url);
  });
  beforeEach(() => {
    config = {};
    then = undefined;
  });
  afterEach(async () => {
    await Promise.all(browser.context.pages().map((page) => page.close()));
    await Promise.all(sites.splice(0).map((site) => site.close()));
  });
  after(async () => {
    await browser.close();
    await service.stop();
    await folder.remove();
  });

  it("speaks on a page of a verified origin that knows the key alone", async () => {
    const site = await serveSite();
    await verify(website.id, site.url);
    const page = await open(site);
    const requests: Request[] = [];
    page.on("request", (request) => requests.push(request));
    await page.click("#speak");
    await until(page, "OnEnd");
    expect(await kinds(page)).to.deep.equal([
      "OnLoad",
      "OnReady",
      "OnClickEvent",
      "OnVoiceResolved",
      "OnStart",
      "OnPartStart",
      "OnPartEnd",
      "OnEnd",
    ]);
    const [sound, ...others] = await page.evaluate(() => window.sounds);
    expect(others).to.deep.equal([]);
    expect(sound?.seconds).to.be.within(0.5, 5);
    expect(sound?.played).to.be.closeTo(sound?.seconds ?? 0, 0.1);
    expect(await page.evaluate(() => window.spoken)).to.deep.equal({ cancelled: false });
    const [synthesis] = requests.filter((request) => request.url().includes("/v2/text/synthesize"));
    const headers = (await synthesis?.allHeaders()) ?? {};
    expect(headers).to.include({ origin: site.url });
    expect(new URL(synthesis?.url() ?? "").searchParams.get("key")).to.equal(website.apiKey);
    expect(headers).to.not.have.any.keys("authorization", "x-api-key", "x-api-secret", "cookie");
  });

  it("plays a long text part after part, and knows where each one is in it", async () => {
    const site = await serveSite();
    await verify(website.id, site.url);
    const page = await open(site);
    const text = `${"One sentence follows the other here. ".repeat(8)}And here is the end.`;
    await page.evaluate((text) => {
      window.text = text;
    }, text);
    await page.click("#speak");
    await page.evaluate(() => window.spoken);
    const events = await told(page);
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
    expect(await page.evaluate(() => window.sounds.length)).to.equal(2);
  }).timeout(60_000);

  it("falls silent when paused, goes on when resumed, and ends when cancelled", async () => {
    const site = await serveSite();
    await verify(website.id, site.url);
    const page = await open(site);
    await page.evaluate(() => {
      window.text = "This is long enough to be halted while it is being heard, and to go on after that.";
    });
    await page.click("#speak");
    await until(page, "OnPartStart");
    await page.evaluate(() => window.speech.pause());
    expect(await page.evaluate(() => window.audio.paused)).to.equal(true);
    await page.evaluate(() => window.speech.resume());
    await until(page, "OnEnd");
    expect((await kinds(page)).slice(-6)).to.deep.equal([
      "OnStart",
      "OnPartStart",
      "OnPause",
      "OnResume",
      "OnPartEnd",
      "OnEnd",
    ]);
    await page.evaluate(() => {
      void window.speech.speak("This will not be heard to its end, as it is cancelled before.");
    });
    await page.waitForFunction(() => window.told.filter(({ type }) => type === "OnPartStart").length === 2);
    await page.evaluate(() => window.speech.cancel());
    expect((await told(page)).at(-1)).to.include({ type: "OnEnd", cancelled: true });
    expect(await page.evaluate(() => window.audio.paused)).to.equal(true);
  });

  it("asks the user where the browser refuses to sound by itself, and speaks once allowed", async () => {
    const site = await serveSite();
    await verify(website.id, site.url);
    // What a test evaluates in a page counts as the user's doing: the page has to speak by itself.
    then = `new MutationObserver(() => console.log("asked")).observe(document.body, { childList: true });
      speech.speak("May I?");`;
    const page = await browser.context.newPage();
    const asked = page.waitForEvent("console", (message) => message.text() === "asked");
    await page.goto(site.url);
    await asked;
    await page.getByRole("button", { name: "Allow speech" }).click();
    await until(page, "OnEnd");
    const order = await kinds(page);
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

  it("tells that the service speaks where a native voice was preferred and there is none", async () => {
    config = { preferNative: true };
    const site = await serveSite();
    await verify(website.id, site.url);
    const page = await open(site);
    await page.click("#speak");
    await until(page, "OnEnd");
    const switched = (await told(page)).filter(({ type }) => type === "OnServiceSwitched");
    expect(switched).to.have.length(1);
    expect(switched[0]).to.include({ from: "native", to: "g1" });
  });

  it("speaks by the browser's own voice where the browser has it, and by the service where it has not", async () => {
    const site = await serveSite();
    await verify(website.id, site.url);
    config = { preferNative: true };
    const page = await browser.context.newPage();
    await page.addInitScript(browserVoices, ["Google UK English Female", "Google Deutsch"]);
    await page.goto(site.url);
    await until(page, "OnReady");
    const speakers = await page.evaluate(async () => {
      const heard = [];
      for (const voice of ["UK English Female", "UK English Male"]) {
        await window.speech.speak("Hello.", { voice, rate: 2 });
        heard.push([voice, window.told.findLast(({ type }) => type === "OnVoiceResolved")?.native]);
      }
      return heard;
    });
    expect(speakers).to.deep.equal([
      ["UK English Female", true],
      ["UK English Male", false],
    ]);
    expect(await page.evaluate(() => window.utterances)).to.deep.equal(["Google UK English Female"]);
  });

  it("is refused with 401 on a page that was verified for another website", async () => {
    const site = await serveSite();
    const other = await registerWebsite(service.url);
    await verify(other.id, site.url);
    const page = await browser.context.newPage();
    const refusals: number[] = [];
    page.on("response", (response) => {
      if (response.url().includes("/v2/")) refusals.push(response.status());
    });
    await page.goto(site.url);
    await until(page, "OnError");
    await page.click("#speak");
    const error = await page.evaluate(() =>
      window.spoken.then(String, ({ status, code }) => ({ status, code })),
    );
    expect(error).to.deep.equal({ status: 401, code: "UNAUTHORIZED" });
    expect(refusals).to.deep.equal([401, 401]);
    const errors = (await told(page)).filter(({ type }) => type === "OnError");
    expect(errors.map(({ code }) => code)).to.deep.equal(["UNAUTHORIZED", "UNAUTHORIZED"]);
    expect((await kinds(page)).filter((kind) => /OnReady|OnStart/.test(kind))).to.deep.equal([]);
  });

  it("is refused with 401 on a page of another port than the verified one, though the browser hides the answer", async () => {
    const [site, neighbour] = [await serveSite(), await serveSite()];
    await verify(website.id, site.url);
    const page = await browser.context.newPage();
    await page.goto(neighbour.url);
    await until(page, "OnError");
    const [error] = (await told(page)).filter(({ type }) => type === "OnError");
    expect(error).to.include({ code: "UNAUTHORIZED" });
    expect(error?.message).to.match(/origin is not a verified origin/);
  });

  it("proves its origin with the operator's token, and is let in", async () => {
    await verify(website.id);
    const site = await serveSite();
    const { body } = await admin(service.url, "POST", `/websites/${website.id}/verifications`, {
      origin: site.url,
    });
    const page = await browser.context.newPage();
    await page.goto(site.url);
    await until(page, "OnError");
    const proof = await page.evaluate((token) => window.speech.verifyOrigin(token), String(body.token));
    expect(proof).to.deep.equal({ verified: true, origin: site.url });
    await page.click("#speak");
    await until(page, "OnEnd");
  });

  it("plays faster and softer where the service could not speak so", async () => {
    const speech = await bytesOf(
      await synthesize(service.url, website, { voice: "UK English Female", text: "Once more." }),
    );
    const plain = await madeUp(() => ({ headers: { "Content-Type": "audio/mpeg" }, body: speech }));
    config = { baseUrl: plain.url };
    const page = await open(await serveSite());
    await page.evaluate(() => {
      void window.speech.speak("Once more.", { rate: 1.5, volume: 0.25 });
    });
    await until(page, "OnPartStart");
    expect(await page.evaluate(() => [window.audio.playbackRate, window.audio.volume])).to.deep.equal([
      1.5, 0.25,
    ]);
    await until(page, "OnEnd");
  });

  it("tells that what came is no sound", async () => {
    const broken = await madeUp(() => ({ headers: { "Content-Type": "audio/mpeg" }, body: "not a sound" }));
    config = { baseUrl: broken.url };
    const page = await open(await serveSite());
    await page.click("#speak");
    await until(page, "OnError");
    expect((await told(page)).at(-1)).to.include({ type: "OnError", code: "PLAYBACK_FAILED" });
  });

  it("reports the browser's voices and platform", async () => {
    const site = await serveSite();
    await verify(website.id, site.url);
    const page = await open(site);
    const report = page.waitForRequest(/\/v2\/voices\/report$/);
    const answer = await page.evaluate(() => window.speech.reportVoices());
    const { platform } = (await report).postDataJSON();
    expect(platform).to.include({ browser: "Chromium", os: "Linux", deviceType: "desktop" });
    expect(platform.browserVersion).to.match(/^\d+\./);
    expect(answer.count).to.be.above(200);
  });
});
