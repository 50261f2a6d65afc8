import type { ServerResponse } from "node:http";
import { expect } from "chai";
import type { Page } from "playwright-core";
import { bundleClient } from "../../src/http/routes/docs/client-script.ts";
import { type Browser, launchBrowser } from "../support/browser.ts";
import {
  clickSpeak,
  eventTypes,
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
import { type LocalServer, serveLocally } from "../support/local-server.ts";
import { makeSound, type SoundFormat } from "../support/wire/made-sound.ts";

declare const window: SpeechWindow & { readonly refusals: number };

const mp3: SoundFormat = { kind: "mp3", sampleRate: 24_000, kbitPerSecond: 64 };
const sentence =
  "This sentence is long enough that a part of it can be heard while the rest is still to come. ";
const sound = (times = 1, format = mp3): Promise<Buffer> =>
  makeSound({ text: sentence.repeat(times), voice: "gmw/en-US", format });

/** What the service sends of one synthesis, by whichever way it was asked for. */
interface Sending {
  write(bytes: Buffer): void;
  end(): void;
  cut(): void;
  readonly left: Promise<void>;
}
type Answer = (sending: Sending) => Promise<void> | void;

/** What a test evaluates in a page counts as the user's doing: the page has to speak by itself, and to say that it asks. */
const speakAtOnce = `
  new MutationObserver(() => console.log("ready")).observe(document.body, { childList: true });
  speech.speak("May I?");`;

/** Counts how often the browser had no room. */
const countRefusals = `
  const append = SourceBuffer.prototype.appendBuffer;
  window.refusals = 0;
  SourceBuffer.prototype.appendBuffer = function (bytes) {
    try { append.call(this, bytes); } catch (error) { window.refusals++; throw error; }
  };
  speech.on("OnReady", () => console.log("ready"));`;

const transports = ["stream", "websocket"] as const;

describe("progressive playback in a browser", () => {
  let browser: Browser;
  let tight: Browser | undefined;
  let service: StubStreamingService;
  let site: LocalServer;

  before(async function () {
    this.timeout(60_000);
    browser = await launchBrowser();
  });
  after(() => browser.close());
  afterEach(async () => {
    await tight?.close();
    tight = undefined;
    await Promise.all(browser.context.pages().map((page) => page.close()));
    await site.close();
    await service.close();
  });

  /** A page that speaks by such a transport, of a service whose sounds are these. */
  const open = async (
    transport: (typeof transports)[number],
    answer: Answer,
    {
      contentType = "audio/mpeg",
      script = `speech.on("OnReady", () => console.log("ready"));`,
      context = browser.context,
    } = {},
  ): Promise<Page> => {
    const leaving = new Map<string, () => void>();
    service = await startStubStreamingService({
      stream: (_, res) => answer(overHttp(res, contentType)),
      synthesize: (asked) => {
        const left = Promise.withResolvers<void>();
        leaving.set(asked.id, left.resolve);
        return answer(overSocket(asked, contentType, left.promise));
      },
      cancelled: (id) => leaving.get(id)?.(),
    });
    const config = { apiKey: "k", baseUrl: service.url, transport, retryAttempts: 0 };
    site = await serveSite(speechPage("/client.js", config, script));
    const page = await context.newPage();
    const ready = page.waitForEvent("console", (message) => message.text() === "ready");
    await page.goto(site.url);
    await ready;
    return page;
  };

  for (const transport of transports) {
    describe(`by ${transport}`, () => {
      it("is heard while the rest is still to come, and to its end", async () => {
        const bytes = await sound();
        const rest = Promise.withResolvers<void>();
        let ended = false;
        const page = await open(transport, async ({ write, end }) => {
          write(bytes.subarray(0, bytes.length / 2));
          await rest.promise;
          write(bytes.subarray(bytes.length / 2));
          end();
          ended = true;
        });
        await clickSpeak(page, "Hello.");
        await waitForPlayback(page, 0.5);
        expect(await eventTypes(page)).to.include("OnStart");
        expect(ended).to.equal(false);
        const duration = page.evaluate(
          () =>
            new Promise((resolve) => {
              const { audio } = window as unknown as { audio: EventTarget & SpeechWindow["audio"] };
              audio.addEventListener("ended", () => resolve([audio.duration, audio.currentTime]));
            }),
        );
        rest.resolve();
        await waitForEvent(page, "OnEnd");
        const [seconds, played] = (await duration) as [number, number];
        expect(seconds).to.be.closeTo((bytes.length * 8) / 64_000, 0.2);
        expect(played).to.be.closeTo(seconds, 0.1);
      });

      it("fails where the sound breaks off", async () => {
        const bytes = await sound();
        const broken = Promise.withResolvers<void>();
        const page = await open(transport, async ({ write, cut }) => {
          write(bytes.subarray(0, bytes.length / 2));
          await broken.promise;
          cut();
        });
        await clickSpeak(page, "Hello.");
        await waitForPlayback(page, 0.2);
        broken.resolve();
        await waitForEvent(page, "OnError");
        expect(await page.evaluate(() => window.told.at(-1))).to.include({ code: "NETWORK" });
        expect(await eventTypes(page)).to.not.include("OnEnd");
        expect(await page.evaluate(() => window.audio.paused)).to.equal(true);
      });

      it("falls silent when paused and when cancelled, and then leaves the service", async () => {
        const bytes = await sound();
        const left = Promise.withResolvers<void>();
        const page = await open(transport, async (sending) => {
          sending.write(bytes.subarray(0, bytes.length / 2));
          await sending.left;
          left.resolve();
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
        await left.promise;
        expect((await eventTypes(page)).slice(-4)).to.deep.equal(["OnStart", "OnPause", "OnResume", "OnEnd"]);
      });
    });
  }

  it("asks the user where the browser refuses to sound by itself, before the sound is whole", async () => {
    const bytes = await sound();
    const rest = Promise.withResolvers<void>();
    const page = await open(
      "stream",
      async ({ write, end }) => {
        write(bytes.subarray(0, bytes.length / 2));
        await rest.promise;
        end();
      },
      { script: speakAtOnce },
    );
    await page.getByRole("button", { name: "Allow speech" }).click();
    await waitForPlayback(page, 0.2);
    rest.resolve();
    await waitForEvent(page, "OnEnd");
    expect(await eventTypes(page)).to.deep.equal(["OnReady", "OnAllowSpeechClicked", "OnStart", "OnEnd"]);
  });

  it("plays when it is whole what the browser does not take in pieces", async () => {
    const bytes = await sound(1, { kind: "opus", sampleRate: 24_000 });
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

  it("tells that what came is no sound", async () => {
    const page = await open("stream", ({ write, end }) => {
      write(Buffer.from("not a sound"));
      end();
    });
    await clickSpeak(page, "Hello.");
    await waitForEvent(page, "OnError");
    expect(await page.evaluate(() => window.told.at(-1))).to.include({ code: "PLAYBACK_FAILED" });
  });

  /** Where what the browser has of the sound begins and ends, in seconds. */
  const buffered = (page: Page): Promise<readonly [number, number]> =>
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

  it("gives the browser about a minute ahead of what is heard, and the rest as it is heard", async () => {
    const bytes = await sound(25);
    const seconds = (bytes.length * 8) / 64_000;
    expect(seconds).to.be.above(100);
    const page = await open("stream", ({ write, end }) => {
      write(bytes);
      end();
    });
    await clickSpeak(page, "Hello.");
    await untilBuffered(page, 60);
    await waitForPlayback(page, 1);
    expect((await buffered(page))[1]).to.be.below(75);
    await seek(page, seconds - 61);
    await untilBuffered(page, seconds - 1);
    await seek(page, seconds - 0.2);
    await waitForEvent(page, "OnEnd");
  }).timeout(60_000);

  it("lets go of what was heard where the browser has no more room", async () => {
    tight = await launchBrowser(["--mse-audio-buffer-size-limit-mb=1"]);
    const bytes = await sound(8, { kind: "mp3", sampleRate: 48_000, kbitPerSecond: 320 });
    const seconds = (bytes.length * 8) / 320_000;
    const page = await open(
      "stream",
      ({ write, end }) => {
        write(bytes);
        end();
      },
      { context: tight.context, script: countRefusals },
    );
    await clickSpeak(page, "Hello.");
    await untilBuffered(page, 20);
    await waitForPlayback(page, 1);
    const [, end] = await buffered(page);
    expect(end).to.be.below(seconds - 5);
    await seek(page, end - 2);
    await untilBuffered(page, seconds - 0.2);
    expect((await buffered(page))[0]).to.be.above(0);
    expect(await page.evaluate(() => window.refusals)).to.be.above(0);
    await seek(page, seconds - 0.2);
    await waitForEvent(page, "OnEnd");
  }).timeout(60_000);
});

const serveSite = async (html: string): Promise<LocalServer> => {
  const { bytes } = await bundleClient();
  return await serveLocally((req, res) => {
    if (req.url === "/client.js")
      return void res.writeHead(200, { "Content-Type": "text/javascript" }).end(bytes);
    res.writeHead(200, { "Content-Type": "text/html; charset=utf-8" }).end(html);
  });
};

const overHttp = (res: ServerResponse, contentType: string): Sending => {
  res.writeHead(200, { "Content-Type": contentType });
  return {
    write: (bytes) => void res.write(bytes),
    end: () => void res.end(),
    cut: () => void res.destroy(),
    left: new Promise((resolve) => res.on("close", resolve)),
  };
};

const overSocket = (
  { send, sendFrame, socket }: SocketSynthesis,
  contentType: string,
  left: Promise<void>,
): Sending => {
  let totalBytes = 0;
  let totalChunks = 0;
  send({ type: "stream_start", contentType, prosodyApplied: [] });
  return {
    write: (bytes) => {
      totalBytes += bytes.length;
      sendFrame(totalChunks++, bytes);
    },
    end: () => send({ type: "stream_end", totalBytes, totalChunks }),
    cut: () => socket.terminate(),
    left,
  };
};
