import type { ServerResponse } from "node:http";
import { expect } from "chai";
import type { Page } from "playwright-core";
import { type Browser, launchBrowser, openBrowser } from "../support/browser.ts";
import { loadBundles } from "../support/bundles.ts";
import {
  clickSpeak,
  mainEventTypes,
  type SpeechWindow,
  speechPage,
  waitForEvent,
  waitForPlayback,
} from "../support/client-library/speech-page.ts";
import {
  type SocketSynthesis,
  type StubStreamingService,
  startStubStreamingService,
} from "../support/client-library/stub-streaming-service.ts";
import { duringSuite } from "../support/during.ts";
import { type LocalServer, serveLocally } from "../support/local-server.ts";
import { makeSound, type SoundFormat } from "../support/wire/made-sound.ts";

declare const window: SpeechWindow & { readonly quotaErrors: number };

const mp3: SoundFormat = { kind: "mp3", sampleRate: 24_000, kbitPerSecond: 64 };
const sentence = "This sentence is long enough to be played in part before the rest has been received. ";
const makeAudio = (times = 1, format = mp3): Promise<Buffer> =>
  makeSound({ text: sentence.repeat(times), voice: "gmw/en-US", format });

/** The response to one synthesis, over HTTP or a WebSocket. */
interface Response {
  write(bytes: Buffer): void;
  end(): void;
  disconnect(): void;
  readonly closed: Promise<void>;
}
type Respond = (response: Response) => Promise<void> | void;

/**
 * Code that a test evaluates counts as a user gesture, so the page itself speaks and logs that the
 * button is shown.
 */
const speakWithoutGesture = `
  new MutationObserver(() => console.log("ready")).observe(document.body, { childList: true });
  speech.speak("May I?");`;

/** Counts how often the browser's buffer was full. */
const countQuotaErrors = `
  const append = SourceBuffer.prototype.appendBuffer;
  window.quotaErrors = 0;
  SourceBuffer.prototype.appendBuffer = function (bytes) {
    try { append.call(this, bytes); } catch (error) { window.quotaErrors++; throw error; }
  };
  speech.on("OnReady", () => console.log("ready"));`;

const transports = ["stream", "websocket"] as const;

describe("progressive playback in a browser", () => {
  const browser = duringSuite(openBrowser);
  let limitedBrowser: Browser | undefined;
  let service: StubStreamingService;
  let site: LocalServer;

  afterEach(async () => {
    await limitedBrowser?.close();
    limitedBrowser = undefined;
    await browser.closePages();
    await site.close();
    await service.close();
  });

  /** Opens a page that uses this transport and a stub service with these responses. */
  const open = async (
    transport: (typeof transports)[number],
    respond: Respond,
    {
      contentType = "audio/mpeg",
      script = `speech.on("OnReady", () => console.log("ready"));`,
      context = browser.context,
    } = {},
  ): Promise<Page> => {
    const onCancelled = new Map<string, () => void>();
    service = await startStubStreamingService({
      stream: (_, res) => respond(overHttp(res, contentType)),
      synthesize: (synthesis) => {
        const closed = Promise.withResolvers<void>();
        onCancelled.set(synthesis.id, closed.resolve);
        return respond(overSocket(synthesis, contentType, closed.promise));
      },
      cancelled: (id) => onCancelled.get(id)?.(),
    });
    const config = { apiKey: "k", baseUrl: service.url, transport, retryAttempts: 0 };
    site = await serveSite(speechPage("/client.js", config, { script }));
    const page = await context.newPage();
    const ready = page.waitForEvent("console", (message) => message.text() === "ready");
    await page.goto(site.url);
    await ready;
    return page;
  };

  for (const transport of transports) {
    describe(`by ${transport}`, () => {
      it("plays while the rest is still being sent, and to the end", async () => {
        const bytes = await makeAudio();
        const mayContinue = Promise.withResolvers<void>();
        let ended = false;
        const page = await open(transport, async ({ write, end }) => {
          write(bytes.subarray(0, bytes.length / 2));
          await mayContinue.promise;
          write(bytes.subarray(bytes.length / 2));
          end();
          ended = true;
        });
        await clickSpeak(page, "Hello.");
        await waitForPlayback(page, 0.5);
        expect(await mainEventTypes(page)).to.include("OnStart");
        expect(ended).to.equal(false);
        mayContinue.resolve();
        await waitForEvent(page, "OnEnd");
        const [played] = await page.evaluate(() => window.played);
        expect(played?.duration).to.be.closeTo((bytes.length * 8) / 64_000, 0.2);
        expect(played?.position).to.be.closeTo(played?.duration ?? 0, 0.1);
      });

      it("fails when the stream breaks", async () => {
        const bytes = await makeAudio();
        const mayBreak = Promise.withResolvers<void>();
        const page = await open(transport, async ({ write, disconnect }) => {
          write(bytes.subarray(0, bytes.length / 2));
          await mayBreak.promise;
          disconnect();
        });
        await clickSpeak(page, "Hello.");
        await waitForPlayback(page, 0.2);
        mayBreak.resolve();
        await waitForEvent(page, "OnError");
        expect(await page.evaluate(() => window.events.at(-1))).to.include({ code: "NETWORK" });
        expect(await mainEventTypes(page)).to.not.include("OnEnd");
        expect(await page.evaluate(() => window.audio.paused)).to.equal(true);
      });

      it("pauses, resumes, and closes the stream when it is cancelled", async () => {
        // Half of it is longer than a busy browser takes from one step to the next.
        const bytes = await makeAudio(20);
        const closed = Promise.withResolvers<void>();
        const page = await open(transport, async (response) => {
          response.write(bytes.subarray(0, bytes.length / 2));
          await response.closed;
          closed.resolve();
        });
        await clickSpeak(page, "Hello.");
        await waitForPlayback(page, 0.2);
        await page.evaluate(() => window.speech.pause());
        expect(await page.evaluate(() => window.audio.paused)).to.equal(true);
        await page.evaluate(() => window.speech.resume());
        const at = await page.evaluate(() => window.audio.currentTime);
        await waitForPlayback(page, at + 0.2);
        await page.evaluate(() => window.speech.cancel());
        expect(await page.evaluate(() => window.audio.paused)).to.equal(true);
        await closed.promise;
        expect((await mainEventTypes(page)).slice(-4)).to.deep.equal([
          "OnStart",
          "OnPause",
          "OnResume",
          "OnEnd",
        ]);
      });
    });
  }

  it("asks the user before the stream has ended if the browser blocks audio", async () => {
    const bytes = await makeAudio();
    const mayContinue = Promise.withResolvers<void>();
    const page = await open(
      "stream",
      async ({ write, end }) => {
        write(bytes.subarray(0, bytes.length / 2));
        await mayContinue.promise;
        end();
      },
      { script: speakWithoutGesture },
    );
    await page.getByRole("button", { name: "Allow speech" }).click();
    await waitForPlayback(page, 0.2);
    mayContinue.resolve();
    await waitForEvent(page, "OnEnd");
    expect(await mainEventTypes(page)).to.deep.equal(["OnReady", "OnAllowSpeechClicked", "OnStart", "OnEnd"]);
  });

  it("downloads a format that the browser cannot play progressively before it plays it", async () => {
    const bytes = await makeAudio(1, { kind: "opus", sampleRate: 24_000 });
    const page = await open(
      "stream",
      ({ write, end }) => {
        write(bytes.subarray(0, 5_000));
        write(bytes.subarray(5_000));
        end();
      },
      { contentType: "audio/ogg" },
    );
    await clickSpeak(page, "Hello.", { rate: 2 });
    await waitForEvent(page, "OnEnd");
  });

  it("fails with PLAYBACK_FAILED for data that is not audio", async () => {
    const page = await open("stream", ({ write, end }) => {
      write(Buffer.from("not audio"));
      end();
    });
    await clickSpeak(page, "Hello.");
    await waitForEvent(page, "OnError");
    expect(await page.evaluate(() => window.events.at(-1))).to.include({ code: "PLAYBACK_FAILED" });
  });

  /** The buffered range, in seconds. */
  const bufferedRange = (page: Page): Promise<readonly [number, number]> =>
    page.evaluate(() => {
      const { buffered } = window.audio;
      return buffered.length === 0 ? [0, 0] : [buffered.start(0), buffered.end(buffered.length - 1)];
    });
  const untilBuffered = (page: Page, seconds: number) =>
    page.waitForFunction((past) => {
      const { buffered } = window.audio;
      return buffered.length > 0 && buffered.end(buffered.length - 1) > past;
    }, seconds);
  const seek = (page: Page, seconds: number) =>
    page.evaluate((to) => {
      window.audio.currentTime = to;
    }, seconds);

  it("buffers about a minute ahead of the playback position", async () => {
    const bytes = await makeAudio(25);
    const seconds = (bytes.length * 8) / 64_000;
    expect(seconds).to.be.above(100);
    const page = await open("stream", ({ write, end }) => {
      write(bytes);
      end();
    });
    await clickSpeak(page, "Hello.");
    await untilBuffered(page, 60);
    await waitForPlayback(page, 1);
    expect((await bufferedRange(page))[1]).to.be.below(75);
    await seek(page, seconds - 61);
    await untilBuffered(page, seconds - 1);
    await seek(page, seconds - 0.2);
    await waitForEvent(page, "OnEnd");
  });

  it("removes played audio when the browser's buffer is full", async () => {
    limitedBrowser = await launchBrowser(["--mse-audio-buffer-size-limit-mb=1"]);
    const bytes = await makeAudio(8, { kind: "mp3", sampleRate: 48_000, kbitPerSecond: 320 });
    const seconds = (bytes.length * 8) / 320_000;
    const page = await open(
      "stream",
      ({ write, end }) => {
        write(bytes);
        end();
      },
      { context: limitedBrowser.context, script: countQuotaErrors },
    );
    await clickSpeak(page, "Hello.");
    await untilBuffered(page, 20);
    await waitForPlayback(page, 1);
    const [, end] = await bufferedRange(page);
    expect(end).to.be.below(seconds - 5);
    await seek(page, end - 2);
    await untilBuffered(page, seconds - 0.2);
    expect((await bufferedRange(page))[0]).to.be.above(0);
    expect(await page.evaluate(() => window.quotaErrors)).to.be.above(0);
    await seek(page, seconds - 0.2);
    await waitForEvent(page, "OnEnd");
  });
});

const serveSite = async (html: string): Promise<LocalServer> => {
  const { body } = (await loadBundles()).client["/client.js"];
  return await serveLocally((req, res) => {
    if (req.url === "/client.js")
      return void res.writeHead(200, { "Content-Type": "text/javascript" }).end(body);
    res.writeHead(200, { "Content-Type": "text/html; charset=utf-8" }).end(html);
  });
};

const overHttp = (res: ServerResponse, contentType: string): Response => {
  res.writeHead(200, { "Content-Type": contentType });
  return {
    write: (bytes) => void res.write(bytes),
    end: () => void res.end(),
    disconnect: () => void res.destroy(),
    closed: new Promise((resolve) => res.on("close", resolve)),
  };
};

const overSocket = (
  { send, sendFrame, socket }: SocketSynthesis,
  contentType: string,
  closed: Promise<void>,
): Response => {
  let totalBytes = 0;
  let totalChunks = 0;
  send({ type: "stream_start", contentType, prosodyApplied: [] });
  return {
    write: (bytes) => {
      totalBytes += bytes.length;
      sendFrame(totalChunks++, bytes);
    },
    end: () => send({ type: "stream_end", totalBytes, totalChunks }),
    disconnect: () => socket.terminate(),
    closed,
  };
};
