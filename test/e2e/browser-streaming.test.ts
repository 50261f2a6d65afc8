import { expect } from "chai";
import type { Page, Request } from "playwright-core";
import { Voxledger } from "../../src/client/voxledger.ts";
import { openBrowser } from "../support/browser.ts";
import { admin, bytesOf, registerWebsite, synthesize } from "../support/client.ts";
import {
  clickSpeak,
  mainEventTypes,
  type SpeechWindow,
  speechPage,
  waitForEvent,
  waitForPlayback,
} from "../support/client-library/speech-page.ts";
import { duringSuite } from "../support/during.ts";
import { startServiceForBrowser } from "../support/in-process-service.ts";
import { type LocalServer, servePage } from "../support/local-server.ts";
import { closedGate } from "../support/wire/gate.ts";
import { openAiApiKey, serveOpenAi } from "../support/wire/openai.ts";

declare const window: SpeechWindow;

const text = "This text is played while the provider is still synthesizing its last words.";

/** End to end: a fake paid provider, the service, a page of a verified origin in Chromium. */
describe("streaming to the client library", () => {
  const upstream = duringSuite(() => serveOpenAi({ chunkBytes: 1_024 }));
  const service = duringSuite(() => startServiceForBrowser({ OPENAI_URL: upstream.url }));
  const browser = duringSuite(openBrowser);
  const website = duringSuite(() => registerWebsite(service.url));
  let site: LocalServer | undefined;

  before(async () => {
    const { status } = await admin(service.url, "PUT", `/websites/${website.id}/credentials/oai`, {
      apiKey: openAiApiKey,
    });
    expect(status).to.be.oneOf([200, 201, 204]);
  });
  afterEach(async () => {
    upstream.faults.none();
    await browser.closePages();
    await site?.close();
    site = undefined;
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
  const providerRequests = () => upstream.requests.filter(({ path }) => path === "/v1/audio/speech");

  for (const transport of ["stream", "websocket"] as const) {
    it(`delivers by ${transport} in Node the same bytes as a download`, async () => {
      const { apiKey, apiSecret } = website;
      const config = { apiKey, apiSecret, baseUrl: service.url, transport };
      const pieces: Uint8Array[] = [];
      const client = new Voxledger(config, { player: ({ bytes }) => void pieces.push(bytes) });
      const request = { voice: "alloy", text: `${text} In Node by ${transport}.` };
      await client.speak(request.text, request);
      client.close();
      const whole = await bytesOf(await synthesize(service.url, website, request));
      expect(Buffer.concat(pieces).equals(whole)).to.equal(true);
      expect(
        providerRequests().filter(({ body }) => body.includes(`In Node by ${transport}`)),
      ).to.have.length(1);
    });

    it(`plays by ${transport} while the provider is still sending, and to the end`, async () => {
      const gate = closedGate();
      const before = providerRequests().length;
      upstream.faults.next({ kind: "trickle", gate });
      const page = await open(transport);
      const requests: Request[] = [];
      page.on("request", (request) => requests.push(request));
      await clickSpeak(page, `${text} By ${transport}.`, { voice: "alloy" });
      gate.step(8);
      await waitForPlayback(page, 0.1);
      await waitForEvent(page, "OnStart");
      expect(providerRequests().at(-1)).to.include({ outcome: "active" });
      gate.open();
      await waitForEvent(page, "OnEnd");
      const whole = await page.evaluate(() => window.spoken);
      expect(whole).to.deep.equal({ cancelled: false });
      expect(providerRequests()).to.have.length(before + 1);
      expect(providerRequests().at(-1)).to.include({ outcome: "answered" });
      const synthesis = requests.filter((request) => request.url().includes("/v2/text/synthesize"));
      expect(synthesis.map((request) => request.headers().accept)).to.deep.equal(
        transport === "stream" ? ["text/event-stream"] : [],
      );
    });

    it(`aborts the provider's request when a page that streams by ${transport} is closed`, async () => {
      const gate = closedGate();
      upstream.faults.next({ kind: "trickle", gate });
      const page = await open(transport);
      await clickSpeak(page, `${text} Left by ${transport}.`, { voice: "alloy" });
      gate.step(8);
      await waitForEvent(page, "OnStart");
      await page.close();
      await upstream.until(() => providerRequests().at(-1)?.outcome === "left");
    });

    it(`fires OnError in a page that streams by ${transport} when the provider's connection breaks`, async () => {
      upstream.faults.next({ kind: "cut" });
      // Without this, a connection that breaks before the first chunk would be retried.
      const page = await open(transport, { retryAttempts: 0 });
      await clickSpeak(page, `${text} Cut by ${transport}.`, { voice: "alloy" });
      await waitForEvent(page, "OnError");
      expect(await mainEventTypes(page)).to.not.include("OnEnd");
    });

    it(`downloads a voice that the service does not stream with transport ${transport}`, async () => {
      const page = await open(transport);
      await clickSpeak(page, text, { voice: "UK English Female", rate: 2 });
      await waitForEvent(page, "OnEnd");
    });
  }
});
