import type { IncomingMessage, ServerResponse } from "node:http";
import { expect } from "chai";
import type { Page } from "playwright-core";
import { openBrowser, tenTimesASecond } from "../support/browser.ts";
import { registerWebsite, synthesize } from "../support/client.ts";
import { duringSuite } from "../support/during.ts";
import { startServiceForBrowser } from "../support/in-process-service.ts";
import { serveLocally } from "../support/local-server.ts";
import { readPage, snippetsOf } from "./pages.ts";

const snippets = snippetsOf(readPage("docs/use/web-pages.md"));
const textOf = (found: (snippet: (typeof snippets)[number]) => boolean): string =>
  snippets.find(found)?.text ?? "";

interface PlayedAudio {
  muted: boolean;
  currentTime: number;
  readonly duration: number;
  play(): Promise<void>;
  onended: () => void;
  onerror: () => void;
}
declare const Audio: new (url: string) => PlayedAudio;
declare const caches: { open(name: string): Promise<{ keys(): Promise<{ url: string }[]> }> };
declare const navigator: { readonly serviceWorker: { readonly controller: unknown } };

/** Responds with the script, whose service is at this address, or with a page that registers it. */
const respondAsSite = ({ url }: IncomingMessage, res: ServerResponse, service: string): void => {
  const isScript = url === "/sw.js";
  const script = textOf(({ file }) => file === "sw.js").replace("http://127.0.0.1:8080", service);
  const html = `<!doctype html><title>News</title>${textOf(({ text }) => text.includes("serviceWorker"))}`;
  res
    .writeHead(200, { "Content-Type": isScript ? "text/javascript" : "text/html" })
    .end(isScript ? script : html);
};

describe("the page about web pages: the service worker", () => {
  const service = duringSuite(() => startServiceForBrowser());
  const browser = duringSuite(openBrowser);
  const site = duringSuite(() => serveLocally((req, res) => respondAsSite(req, res, service.url)));
  const openPage = async (url: string): Promise<Page> => {
    const opened = await browser.context.newPage();
    await opened.goto(url);
    await opened.waitForFunction(() => navigator.serviceWorker.controller !== null);
    return opened;
  };
  let page: Page;
  let audio: string;
  let bytes: Buffer;

  before(async () => {
    const website = await registerWebsite(service.url);
    const text = "The night train leaves the city at nine in the evening.";
    const spoken = await synthesize(service.url, website, { text, lang: "en-GB" });
    bytes = Buffer.from(await spoken.arrayBuffer());
    audio = new URL(spoken.headers.get("content-location") ?? "", service.url).href;
    page = await openPage(site.url);
  });
  after(async () => {
    await browser.context.setOffline(false);
    await browser.closePages();
  });

  const play = (url: string, from: number): Promise<string> =>
    page.evaluate(
      async ([url, from]) => {
        const audio = new Audio(url);
        audio.muted = true; // browsers play muted audio without a click
        const ended = new Promise<string>((resolve) => {
          audio.onended = () => resolve("ended");
          audio.onerror = () => resolve("failed");
        });
        await audio.play();
        audio.currentTime = from * audio.duration;
        return await ended;
      },
      [url, from] as const,
    );
  const part = (url: string, range: string) =>
    page.evaluate(
      async ([url, range]) => {
        const response = await fetch(url, { headers: { Range: range } });
        const { status, headers } = response;
        const content = [...new Uint8Array(await response.arrayBuffer())];
        return [status, headers.get("content-range"), content] as const;
      },
      [url, range] as const,
    );
  const kept = (page: Page) =>
    page.evaluate(async () => (await (await caches.open("voxledger-audio")).keys()).map(({ url }) => url));

  /** Resolves when the worker has kept audio. */
  const untilKept = async (page: Page): Promise<string[]> => {
    await page.waitForFunction(async () => {
      const cache = await caches.open("voxledger-audio");
      return (await cache.keys()).length > 0;
    }, tenTimesASecond);
    return await kept(page);
  };

  it("plays audio, and keeps it", async () => {
    expect(await play(audio, 0)).to.equal("ended");
    expect(await untilKept(page)).to.deep.equal([audio]);
  });

  it("passes on audio while it arrives, and keeps it when it is complete", async () => {
    let end = (): void => {};
    const slow = await serveLocally((req, res) => {
      if (!req.url?.startsWith("/audio/")) return respondAsSite(req, res, `http://${req.headers.host}`);
      res.writeHead(200, { "Content-Type": "audio/mpeg", "Cache-Control": "immutable" }).write("begun, ");
      end = () => res.end("ended");
    });
    try {
      const opened = await openPage(slow.url);
      const url = `${slow.url}/audio/1.mp3`;
      const reading = await opened.evaluateHandle(async (url) => (await fetch(url)).body?.getReader(), url);
      const next = () =>
        reading.evaluate(async (reader) => new TextDecoder().decode((await reader?.read())?.value));
      expect(await next()).to.equal("begun, ");
      expect(await kept(opened)).to.deep.equal([]);
      end();
      expect(await next()).to.equal("ended");
      expect(await untilKept(opened)).to.deep.equal([url]);
      await opened.close();
    } finally {
      await slow.close();
    }
  });

  /** The status of a response for audio that does not exist. */
  const missing = () =>
    page.evaluate(
      (url) =>
        fetch(url).then(
          ({ status }) => status,
          () => "offline",
        ),
      audio.replace(/[0-9a-f]{64}/, "0".repeat(64)),
    );

  it("keeps no response that is not final", async () => {
    expect(await missing()).to.equal(404);
    expect(await kept(page)).to.deep.equal([audio]);
  });

  it("plays kept audio offline, also from the middle", async () => {
    await browser.context.setOffline(true);
    expect(await missing()).to.equal("offline");
    expect(await play(audio, 0)).to.equal("ended");
    expect(await play(audio, 0.5)).to.equal("ended");
    expect(await part(audio, "bytes=10-19")).to.deep.equal([
      206,
      `bytes 10-19/${bytes.length}`,
      [...bytes.subarray(10, 20)],
    ]);
    expect((await part(audio, "bytes=100-"))[2]).to.have.length(bytes.length - 100);
    expect((await part(audio, "bytes=99999999-"))[0]).to.equal(416);
  });
});
