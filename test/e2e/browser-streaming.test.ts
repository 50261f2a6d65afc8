import { expect } from "chai";
import type { Page, Request } from "playwright-core";
import { Voxledger } from "../../src/client/voxledger.ts";
import { type Browser, launchBrowser } from "../support/browser.ts";
import { admin, bytesOf, type Credentials, registerWebsite, synthesize } from "../support/client.ts";
import {
  clickSpeak,
  eventTypes,
  type SpeechWindow,
  speechPage,
  waitForEvent,
  waitForPlayback,
} from "../support/client-library/speech-page.ts";
import { type LocalServer, servePage } from "../support/local-server.ts";
import { type RunningService, startService, temporaryFolder } from "../support/service.ts";
import { closedGate } from "../support/wire/gate.ts";
import { openAiApiKey, serveOpenAi } from "../support/wire/openai.ts";
import type { WireServer } from "../support/wire/wire-server.ts";

declare const window: SpeechWindow;

const text = "It is heard from its first word on, long before its last word has been made.";

/** The whole way: a paid provider at its wire, the service as a process, a page of a verified origin in Chromium. */
describe("speech that is streamed to the client library", () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let upstream: WireServer;
  let service: RunningService;
  let browser: Browser;
  let website: Credentials;
  let site: LocalServer | undefined;

  before(async function () {
    this.timeout(60_000);
    folder = await temporaryFolder();
    upstream = await serveOpenAi({ chunkBytes: 1_024 });
    [service, browser] = await Promise.all([
      startService(folder.path, { OPENAI_URL: upstream.url }),
      launchBrowser(),
    ]);
    website = await registerWebsite(service.url);
    const { status } = await admin(service.url, "PUT", `/websites/${website.id}/credentials/oai`, {
      apiKey: openAiApiKey,
    });
    expect(status).to.be.oneOf([200, 201, 204]);
  });
  afterEach(async () => {
    upstream.faults.none();
    await Promise.all(browser.context.pages().map((page) => page.close()));
    await site?.close();
    site = undefined;
  });
  after(async () => {
    await upstream.close();
    await browser.close();
    await service.stop();
    await folder.remove();
  });

  const open = async (transport: string, options: object = {}): Promise<Page> => {
    const config = { apiKey: website.apiKey, transport, ...options };
    site = await servePage(() => speechPage(`${service.url}/client.js`, config));
    const { url } = site;
    await admin(service.url, "PUT", `/websites/${website.id}/origins`, { origins: [url] });
    const page = await browser.context.newPage();
    await page.goto(url);
    await waitForEvent(page, "OnReady");
    return page;
  };
  const speeches = () => upstream.requests.filter(({ path }) => path === "/v1/audio/speech");

  for (const transport of ["stream", "websocket"] as const) {
    it(`is the same by ${transport} in Node, which has a secret, as when it comes whole`, async () => {
      const { apiKey, apiSecret } = website;
      const config = { apiKey, apiSecret, baseUrl: service.url, transport };
      const pieces: Uint8Array[] = [];
      const client = new Voxledger(config, { player: ({ bytes }) => void pieces.push(bytes) });
      const said = { voice: "alloy", text: `${text} In Node by ${transport}.` };
      await client.speak(said.text, said);
      client.close();
      const whole = await bytesOf(await synthesize(service.url, website, said));
      expect(Buffer.concat(pieces).equals(whole)).to.equal(true);
      expect(speeches().filter(({ body }) => body.includes(`In Node by ${transport}`))).to.have.length(1);
    });

    it(`is heard by ${transport} while the provider is still making it, and to its end`, async () => {
      const gate = closedGate();
      const before = speeches().length;
      upstream.faults.next({ kind: "trickle", gate });
      const page = await open(transport);
      const asked: Request[] = [];
      page.on("request", (request) => asked.push(request));
      await clickSpeak(page, `${text} By ${transport}.`, { voice: "alloy" });
      gate.step(8);
      await waitForPlayback(page, 0.1);
      expect(await eventTypes(page)).to.include("OnStart");
      expect(speeches().at(-1)).to.include({ outcome: "active" });
      gate.open();
      await waitForEvent(page, "OnEnd");
      const whole = await page.evaluate(() => window.spoken);
      expect(whole).to.deep.equal({ cancelled: false });
      expect(speeches()).to.have.length(before + 1);
      expect(speeches().at(-1)).to.include({ outcome: "answered" });
      const synthesis = asked.filter((request) => request.url().includes("/v2/text/synthesize"));
      expect(synthesis.map((request) => request.headers().accept)).to.deep.equal(
        transport === "stream" ? ["text/event-stream"] : [],
      );
    });

    it(`lets the provider go when a page that hears by ${transport} leaves`, async () => {
      const gate = closedGate();
      upstream.faults.next({ kind: "trickle", gate });
      const page = await open(transport);
      await clickSpeak(page, `${text} Left by ${transport}.`, { voice: "alloy" });
      gate.step(8);
      await waitForEvent(page, "OnStart");
      await page.close();
      await upstream.until(() => speeches().at(-1)?.outcome === "left");
    });

    it(`fails in a page that hears by ${transport} where the provider breaks off`, async () => {
      upstream.faults.next({ kind: "cut" });
      // A cut that comes before the page has read anything is made good by asking again.
      const page = await open(transport, { retryAttempts: 0 });
      await clickSpeak(page, `${text} Cut by ${transport}.`, { voice: "alloy" });
      await waitForEvent(page, "OnError");
      expect(await eventTypes(page)).to.not.include("OnEnd");
    });

    it(`speaks by ${transport} with a voice that is not streamed, too`, async () => {
      const page = await open(transport);
      await clickSpeak(page, text, { voice: "UK English Female", rate: 2 });
      await waitForEvent(page, "OnEnd");
    });
  }
});
