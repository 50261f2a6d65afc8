import { expect } from "chai";
import type { NativeSynthesis, NativeUtterance, NativeVoice } from "../../../src/client/dom.ts";
import { Voxledger } from "../../../src/client/voxledger.ts";
import { nextEvent, recordEvents } from "../../support/client-library/recorded-events.ts";
import {
  configResponse,
  type StubServer,
  startStubServer,
} from "../../support/client-library/stub-server.ts";
import { rejection } from "../../support/rejection.ts";

const nativeVoice = (name: string, lang: string, more: Partial<NativeVoice> = {}): NativeVoice => ({
  name,
  lang,
  voiceURI: name,
  localService: true,
  default: false,
  ...more,
});

const browserVoices = [
  nativeVoice("Google UK English Female", "en-GB", { localService: false }),
  nativeVoice("Daniel", "en_GB"),
  nativeVoice("Amélie", "fr-CA"),
];

/**
 * One voice with the browser's Daniel as system voice, one of engine g5, one with several native
 * voices.
 */
const catalog = {
  body: {
    voices: [
      { name: "UK English Male", lang: "en-GB", voiceIDs: [1, 2] },
      { name: "Welsh Female", lang: "cy-GB", voiceIDs: [3] },
      { name: "French Canadian Female", lang: "fr-CA", voiceIDs: [4, 5, 6] },
    ],
    systemVoices: [
      { id: 1, name: "Daniel" },
      { id: 2, name: "g1-en-GB-male", service: "g1" },
      { id: 3, name: "g5-cy-GB-female", service: "g5" },
      { id: 4, name: "Chantal", lang: "fr-CA" },
      { id: 5, name: "Amélie (French (Canada))", lang: "fr-CA" },
      { id: 6, name: "g1-fr-CA-female", service: "g1", fallbackVoice: true },
    ],
  },
};

/** A `speechSynthesis` that speaks at once. Debian's Chromium has no voices to test with. */
const fakeSpeechSynthesis = (fail?: (text: string) => string | undefined) => {
  const spoken: NativeUtterance[] = [];
  const calls: string[] = [];
  const synthesis: NativeSynthesis = {
    getVoices: () => browserVoices,
    addEventListener: () => {},
    pause: () => void calls.push("pause"),
    resume: () => void calls.push("resume"),
    cancel: () => void calls.push("cancel"),
    speak: (utterance) => {
      spoken.push(utterance);
      const error = fail?.(textOf(utterance));
      queueMicrotask(() => {
        if (error !== undefined) return utterance.onerror?.({ error });
        utterance.onstart?.();
        utterance.onboundary?.({ charIndex: 4, charLength: 2, elapsedTime: 0.5, name: "word" });
        if (!textOf(utterance).startsWith("Endless")) utterance.onend?.();
      });
    },
  };
  const utterance = (text: string): NativeUtterance =>
    ({ text, onstart: null, onend: null, onerror: null, onboundary: null }) as unknown as NativeUtterance;
  return { synthesis, utterance, spoken, calls };
};
const textOf = (utterance: NativeUtterance): string => (utterance as unknown as { text: string }).text;

describe("speech with the browser's own voices", () => {
  let server: StubServer;
  let client: Voxledger;
  let played: number;

  const connect = (native: ReturnType<typeof fakeSpeechSynthesis>, preferNative = true): Voxledger => {
    client = new Voxledger(
      { apiKey: "k", baseUrl: server.url, preferNative },
      { nativeSpeech: native, player: () => void played++ },
    );
    return client;
  };

  beforeEach(async () => {
    played = 0;
    server = await startStubServer(({ url }) => {
      if (url?.startsWith("/v2/config")) return configResponse;
      if (url?.startsWith("/v2/voices")) return catalog;
      return { headers: { "Content-Type": "audio/mpeg" }, body: "sound" };
    });
  });
  afterEach(async () => {
    client.close();
    await server.close();
  });

  it("selects a voice by its own name, and applies the prosody", async () => {
    const native = fakeSpeechSynthesis();
    await connect(native).speak("Bonjour.", { voice: "Amélie", pitch: 1.2, rate: 0, volume: 0.4 });
    expect(native.spoken).to.have.length(1);
    expect(native.spoken[0]).to.include({
      voice: browserVoices[2],
      lang: "fr-CA",
      pitch: 1.2,
      rate: 0.1,
      volume: 0.4,
    });
    expect(played).to.equal(0);
  });

  it("speaks the words of SSML, each at its offset", async () => {
    const native = fakeSpeechSynthesis();
    const ssml = "<speak>Bonjour &amp; <emphasis>merci</emphasis>.</speak>";
    await connect(native).speak(ssml, { voice: "Amélie" });
    const [spoken] = native.spoken.map(textOf);
    expect(spoken?.split(/\s+/)).to.deep.equal(["", "Bonjour", "&", "merci", ".", ""]);
    expect(spoken?.indexOf("merci")).to.equal(ssml.indexOf("merci"));
  });

  it("selects a voice by its name in the catalog", async () => {
    const native = fakeSpeechSynthesis();
    await connect(native).speak("Good morning.", { voice: "UK English Male" });
    expect(native.spoken[0]?.voice?.name).to.equal("Daniel");
  });

  it("selects the first native voice of the catalog's voice that the browser has", async () => {
    const native = fakeSpeechSynthesis();
    await connect(native).speak("Bonjour.", { voice: "French Canadian Female" });
    expect(native.spoken[0]?.voice?.name).to.equal("Amélie");
    expect(played).to.equal(0);
  });

  it("selects a voice by language, a local one first, if none is named", async () => {
    const native = fakeSpeechSynthesis();
    await connect(native).speak("Good morning.", { lang: "en-GB" });
    expect(native.spoken[0]?.voice?.name).to.equal("Daniel");
  });

  it("uses the service if the browser does not have the voice", async () => {
    const native = fakeSpeechSynthesis();
    const events = recordEvents(connect(native));
    await client.speak("Good morning.", { voice: "UK English Female" });
    expect(native.spoken).to.deep.equal([]);
    expect(played).to.equal(1);
    expect(events.find(({ type }) => type === "OnServiceSwitched")).to.include({ from: "native", to: "g1" });
  });

  it("uses the service without `preferNative`", async () => {
    const native = fakeSpeechSynthesis();
    const events = recordEvents(connect(native, false));
    await client.speak("Bonjour.", { voice: "Amélie" });
    expect(native.spoken).to.deep.equal([]);
    expect(events.some(({ type }) => type === "OnServiceSwitched")).to.equal(false);
  });

  it("fires the same events as the service's speech, and word boundaries as offsets into the text", async () => {
    const text = `${"a".repeat(200)}. ${"b".repeat(200)}.`;
    const boundaries: unknown[] = [];
    const events = recordEvents(connect(fakeSpeechSynthesis()));
    await client.speak(text, { voice: "Amélie", onboundary: (...at) => boundaries.push(at) });
    expect(events.map(({ type }) => type).slice(2)).to.deep.equal([
      "OnVoiceResolved",
      "OnStart",
      "OnPartStart",
      "OnPartEnd",
      "OnPartStart",
      "OnPartEnd",
      "OnEnd",
    ]);
    expect(boundaries).to.deep.equal([
      [4, "word", { name: "word", charIndex: 4, charLength: 2, elapsedTime: 0.5 }],
      [206, "word", { name: "word", charIndex: 206, charLength: 2, elapsedTime: 0.5 }],
    ]);
  });

  it("continues with the service from the part that the browser failed to speak", async () => {
    const text = `${"a".repeat(200)}. ${"b".repeat(200)}. ${"c".repeat(200)}.`;
    const native = fakeSpeechSynthesis((part) => (part.startsWith("b") ? "synthesis-failed" : undefined));
    const events = recordEvents(connect(native));
    expect(await client.speak(text, { voice: "Amélie" })).to.deep.equal({ cancelled: false });
    expect(played).to.equal(2);
    const order = events
      .slice(2)
      .map((event) => `${event.type} ${"index" in event ? event.index : ""}`.trim());
    expect(order).to.deep.equal([
      "OnVoiceResolved",
      "OnStart",
      "OnPartStart 0",
      "OnPartEnd 0",
      "OnServiceSwitched",
      "OnVoiceResolved",
      "OnPartStart 1",
      "OnPartEnd 1",
      "OnPartStart 2",
      "OnPartEnd 2",
      "OnEnd",
    ]);
  });

  it("fires OnServiceSwitched in both directions, with the catalog's engine", async () => {
    const events = recordEvents(connect(fakeSpeechSynthesis()));
    await client.speak("Bore da.", { voice: "Welsh Female" });
    await client.speak("Prynhawn da.", { voice: "Welsh Female" });
    await client.speak("Bonjour.", { voice: "Amélie" });
    const switches = events.flatMap((event) => ("from" in event ? [`${event.from} to ${event.to}`] : []));
    expect(switches).to.deep.equal(["native to g5", "g5 to native"]);
  });

  it("pauses, resumes and cancels the browser's speech", async () => {
    const native = fakeSpeechSynthesis();
    connect(native);
    const over = client.speak("Endless.", { voice: "Amélie" });
    await nextEvent(client, "OnPartStart");
    client.pause();
    client.resume();
    client.cancel();
    expect(await over).to.deep.equal({ cancelled: true });
    expect(native.calls).to.deep.equal(["pause", "resume", "cancel", "resume"]);
  });

  it("reports the voices and the platform, and nothing about the user", async () => {
    const bodies: string[] = [];
    await server.close();
    server = await startStubServer((request) => {
      request.on("data", (chunk) => bodies.push(String(chunk)));
      return request.url?.startsWith("/v2/config")
        ? configResponse
        : { body: { count: 0, voices: [], systemVoices: [] } };
    });
    const userAgent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
    client = new Voxledger(
      { apiKey: "k", baseUrl: server.url },
      { nativeSpeech: fakeSpeechSynthesis(), navigator: { userAgent }, now: () => 0 },
    );
    expect(await client.reportVoices()).to.include({ count: 0 });
    const report = JSON.parse(bodies.join(""));
    expect(report).to.deep.include({
      platform: {
        browser: "Firefox",
        browserVersion: "140.0",
        os: "Linux",
        osVersion: "unknown",
        deviceType: "desktop",
      },
      timestamp: "1970-01-01T00:00:00.000Z",
      sdkVersion: "v2",
    });
    expect(report.voices).to.deep.equal(browserVoices);
  });

  it("rejects a voice report outside of a browser", async () => {
    client = new Voxledger({ apiKey: "k", baseUrl: server.url });
    expect(await rejection(client.reportVoices())).to.include({ code: "NOT_SUPPORTED" });
  });
});
