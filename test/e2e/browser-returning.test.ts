import { expect } from "chai";
import pino from "pino";
import type { Page } from "playwright-core";
import { type Browser, openBrowser } from "../support/browser.ts";
import { admin, type Credentials, registerWebsite } from "../support/client.ts";
import {
  clickSpeak,
  mainEventTypes,
  type SpeechWindow,
  speechPage,
  waitForEvent,
} from "../support/client-library/speech-page.ts";
import { duringSuite } from "../support/during.ts";
import { type InProcessService, startServiceForBrowser } from "../support/in-process-service.ts";
import { type LocalServer, servePage } from "../support/local-server.ts";
import { until as untilTrue } from "../support/processes.ts";
import { openAiApiKey, serveOpenAi } from "../support/wire/openai.ts";

declare const window: SpeechWindow;

/** A line of the service's log. */
interface Line {
  readonly msg?: string;
  readonly method?: string;
  readonly route?: string;
  readonly status?: number;
}

describe("the client library on a page visited again after its token has expired", () => {
  const upstream = duringSuite(() => serveOpenAi({ chunkBytes: 1_024 }));
  let service: InProcessService;
  let browser: Browser;
  let website: Credentials;
  let site: LocalServer;
  const lines: Line[] = [];

  before(async () => {
    const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
    [service, browser] = await Promise.all([
      startServiceForBrowser({ OPENAI_URL: upstream.url, TOKEN_TTL_SECONDS: "5" }, log),
      openBrowser(),
    ]);
    website = await registerWebsite(service.url);
    await admin(service.url, "PUT", `/websites/${website.id}/credentials/oai`, { apiKey: openAiApiKey });
  });
  afterEach(async () => {
    await browser.closePages();
    await site.close();
  });
  after(async () => {
    await browser.close();
    await service.close();
  });

  const preflights = (): number => lines.filter(({ method }) => method === "OPTIONS").length;
  const refusals = (): Line[] => lines.filter(({ status = 200 }) => status >= 400);

  const visit = async (): Promise<{ page: Page; exp: number }> => {
    const page = await browser.context.newPage();
    const config = page.waitForResponse((response) => response.url().includes("/v2/config"));
    await page.goto(site.url);
    await waitForEvent(page, "OnReady");
    const { auth } = await (await config).json();
    return { page, exp: auth.exp };
  };
  const speakAndWait = async (page: Page, text: string, params: object): Promise<void> => {
    await page.evaluate("events.length = 0");
    await clickSpeak(page, text, params);
    await waitForEvent(page, "OnEnd");
    expect(await mainEventTypes(page)).to.deep.equal(["OnStart", "OnEnd"]);
  };

  for (const [transport, voice] of [
    ["chunks", "UK English Female"],
    ["websocket", "alloy"],
  ] as const) {
    it(`speaks with transport ${transport} without an error response or another preflight`, async () => {
      site = await servePage(() =>
        speechPage(`${service.url}/client.js`, { apiKey: website.apiKey, transport }),
      );
      await admin(service.url, "PUT", `/websites/${website.id}/origins`, { origins: [site.url] });
      const [linesBefore, refusedBefore] = [lines.length, refusals().length];
      const first = await visit();
      await speakAndWait(first.page, `First, by ${transport}.`, { voice, rate: 2 });
      await untilTrue("the token expires", () => Date.now() / 1_000 > first.exp);
      const preflightsBefore = preflights();
      await speakAndWait(first.page, `Second, by ${transport}.`, { voice, rate: 2 });
      const second = await visit();
      expect(second.exp).to.be.above(first.exp);
      await speakAndWait(second.page, `Third, by ${transport}.`, { voice, rate: 2 });
      expect(lines.length - linesBefore).to.be.at.least(4); // it reads the log: two configurations and two syntheses or handshakes
      expect(preflights() - preflightsBefore).to.equal(0);
      expect(refusals().slice(refusedBefore)).to.deep.equal([]);
    });
  }

  it("makes at most 8 handshakes for 49 speeches while its key is suspended", async () => {
    const config = { apiKey: website.apiKey, transport: "websocket", retryAttempts: 0 };
    site = await servePage(() => speechPage(`${service.url}/client.js`, config));
    await admin(service.url, "PUT", `/websites/${website.id}/origins`, { origins: [site.url] });
    await admin(service.url, "POST", `/keys/${website.apiKey}/suspend`, { reason: "invoice overdue" });
    const { page } = await visit();
    const before = lines.length;
    const codes = await page.evaluate(async () => {
      const failures: unknown[] = [];
      for (let speeches = 0; speeches < 49; speeches++) {
        await window.speech.speak("Hello.", { voice: "alloy" }).catch(({ code }) => failures.push(code));
      }
      return failures;
    });
    expect(codes).to.deep.equal(Array.from({ length: 49 }, () => "KEY_SUSPENDED"));
    const refusedHandshakes = () => lines.slice(before).filter(({ msg }) => msg === "handshake refused");
    await untilTrue("a refused handshake is logged", () => refusedHandshakes().length > 0);
    const handshakes = refusedHandshakes();
    expect(handshakes.length).to.be.at.most(8);
    expect(handshakes[0]).to.include({ status: 403 });
  });
});
