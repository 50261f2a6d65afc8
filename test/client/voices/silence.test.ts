import { expect } from "chai";
import type { NativeSynthesis, NativeUtterance } from "../../../src/client/dom.ts";
import { type Environment, Voxledger, type VoxledgerConfig } from "../../../src/client/voxledger.ts";
import { recordEvents } from "../../support/client-library/recorded-events.ts";
import {
  configResponse,
  type StubResponse,
  type StubServer,
  startStubServer,
} from "../../support/client-library/stub-server.ts";
import { createManualTime, type ManualTime, until } from "../../support/manual-time.ts";

/** An engine whose utterances last until the test ends them. */
const fakeEngine = ({ starts }: { readonly starts: boolean }) => {
  const texts: string[] = [];
  let current: NativeUtterance | undefined;
  const synthesis: NativeSynthesis = {
    getVoices: () => [{ name: "Own", lang: "en-GB", voiceURI: "Own", localService: true, default: true }],
    ...{ addEventListener: () => {}, pause: () => {}, resume: () => {} },
    cancel: () => {
      current = undefined;
    },
    speak: (utterance) => {
      texts.push((utterance as unknown as { text: string }).text);
      current = utterance;
      if (starts) utterance.onstart?.();
    },
  };
  return {
    nativeSpeech: { synthesis, utterance: (text: string) => ({ text }) as unknown as NativeUtterance },
    texts,
    reachWord: (charIndex: number): void =>
      current?.onboundary?.({ charIndex, charLength: 1, elapsedTime: 1, name: "word" }),
    end: (): void => current?.onend?.(),
    isSpeaking: (): boolean => current !== undefined,
  };
};

describe("the longest silence of a speech", () => {
  let server: StubServer;
  let client: Voxledger;
  let time: ManualTime;
  /** Ends the part of the service that is played. */
  let played: (() => void)[];
  let hanging: RegExp;

  const connect = async (
    engine: ReturnType<typeof fakeEngine>,
    options: Partial<VoxledgerConfig> = {},
    environment: Partial<Environment> = {},
  ) => {
    server = await startStubServer(({ url = "" }): StubResponse => {
      if (hanging.test(url)) return { hang: true };
      if (url.startsWith("/v2/config")) return configResponse;
      if (url.startsWith("/v2/voices/")) return { body: { voice: { lang: "en-GB" } } };
      if (url.startsWith("/v2/voices")) return { body: { voices: [], systemVoices: [] } };
      if (url.startsWith("/v2/articles")) return { status: 404 };
      return { headers: { "Content-Type": "audio/mpeg" }, body: "sound" };
    });
    client = new Voxledger(
      { apiKey: "k", baseUrl: server.url, ...options },
      {
        nativeSpeech: engine.nativeSpeech,
        startTimer: time.after,
        ...environment,
        player: () => new Promise((resolve) => played.push(resolve)),
      },
    );
    return recordEvents(client);
  };
  const requested = (path: string) => () => server.requests.some((line) => line.includes(path));

  beforeEach(() => {
    time = createManualTime();
    played = [];
    hanging = /^$/;
  });
  afterEach(async () => {
    client.close();
    await server.close();
  });

  it("ends with a voice of the browser if a connection hangs, and the service continues when it can be reached", async () => {
    hanging = /articles/;
    const engine = fakeEngine({ starts: true });
    const events = await connect(engine);
    const sections = Array.from({ length: 9 }, (_, index) => ({ text: `Part ${index} of the text.` }));
    void client.speakArticle(sections);
    await until(requested("/v2/articles"));
    time.advance(9_999);
    expect(engine.texts).to.deep.equal([]);
    time.advance(1);
    await until(() => engine.texts.length === 1);
    expect(engine.texts).to.deep.equal(["Part 0 of the text."]);
    expect(events.find(({ type }) => type === "OnServiceSwitched")).to.deep.include({
      reason: { message: "The service did not respond within 10000 ms.", code: "TIMEOUT" },
    });
    hanging = /^$/;
    await until(requested("/health"));
    for (let spoken = 1; played.length === 0; spoken++) {
      engine.end();
      await until(() => engine.texts.length > spoken || played.length > 0);
    }
    expect(server.requests.filter((line) => line.startsWith("POST /v2/articles"))).to.have.length(2);
  });

  it("ends with a voice of the browser if the configuration does not arrive", async () => {
    hanging = /config/;
    const engine = fakeEngine({ starts: true });
    await connect(engine);
    void client.speak("Good morning.");
    await until(requested("/v2/config"));
    time.advance(10_000);
    await until(() => engine.texts.length === 1);
  });

  it("ends at once with a voice of the browser if that has no network", async () => {
    const delays: number[] = [];
    const engine = fakeEngine({ starts: true });
    await connect(
      engine,
      {},
      {
        navigator: { userAgent: "", onLine: false },
        sleep: async (milliseconds) => void delays.push(milliseconds),
      },
    );
    await client.config();
    await server.close();
    void client.speak("Good morning.");
    await until(() => engine.texts.length === 1);
    expect(delays).to.deep.equal([]);
  });

  it("does not include the time in which the part before is played", async () => {
    hanging = /Second/;
    const engine = fakeEngine({ starts: true });
    await connect(engine);
    void client.speak([{ text: "First part." }, { text: "Second part." }]);
    await until(() => played.length === 1 && requested("Second")());
    time.advance(20_000);
    played[0]?.();
    await until(() => time.waiting() === 2); // the request's timeout, and the silence
    expect(engine.texts).to.deep.equal([]);
    time.advance(10_000);
    await until(() => engine.texts.length === 1);
    expect(engine.texts).to.deep.equal(["Second part."]);
  });

  it("ends with the service if the browser's engine does not start, except while it is paused", async () => {
    const engine = fakeEngine({ starts: false });
    const events = await connect(engine, { preferNative: true });
    void client.speak("Good morning.", { lang: "en-GB" });
    await until(engine.isSpeaking);
    client.pause();
    time.advance(60_000);
    client.resume();
    time.advance(9_999);
    expect(engine.isSpeaking()).to.equal(true);
    time.advance(1);
    await until(() => played.length === 1);
    expect(engine.isSpeaking()).to.equal(false);
    expect(events.some(({ type }) => type === "OnServiceSwitched")).to.equal(true);
  });

  it("ends with the service if the browser's engine stops in the middle, except while it is paused", async () => {
    const engine = fakeEngine({ starts: true });
    await connect(engine, { preferNative: true });
    const text = "Good morning to all of you.";
    void client.speak(text, { lang: "en-GB" });
    await until(engine.isSpeaking);
    time.advance(10_000 + text.length * 500 - 1);
    client.pause();
    engine.reachWord(13); // spoken before the pause
    time.advance(60_000);
    expect(engine.isSpeaking()).to.equal(true);
    client.resume();
    time.advance(10_000 + (text.length - 13) * 500 - 1);
    expect(engine.isSpeaking()).to.equal(true);
    time.advance(1);
    await until(() => played.length === 1);
    expect(engine.isSpeaking()).to.equal(false);
  });
});
