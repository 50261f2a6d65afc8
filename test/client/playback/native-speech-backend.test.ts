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

/** The catalog knows the browser's Daniel behind a friendly name, and g5 behind another. */
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

/** A browser's speech as its specification has it, which speaks at once; Debian's Chromium has no voices to test with. */
const speaking = (fail?: (text: string) => string | undefined) => {
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
        utterance.onboundary?.({ charIndex: 4, name: "word" });
        if (!textOf(utterance).startsWith("Endless")) utterance.onend?.();
      });
    },
  };
  const utterance = (text: string): NativeUtterance =>
    ({ text, onstart: null, onend: null, onerror: null, onboundary: null }) as unknown as NativeUtterance;
  return { synthesis, utterance, spoken, calls };
};
const textOf = (utterance: NativeUtterance): string => (utterance as unknown as { text: string }).text;

describe("speech by the browser's own voices", () => {
  let server: StubServer;
  let client: Voxledger;
  let played: number;

  const connect = (native: ReturnType<typeof speaking>, preferNative = true): Voxledger => {
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

  it("is chosen by the voice's own name, with the prosody asked for", async () => {
    const native = speaking();
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

  it("is chosen by the name that the catalog has for the browser's voice", async () => {
    const native = speaking();
    await connect(native).speak("Good morning.", { voice: "UK English Male" });
    expect(native.spoken[0]?.voice?.name).to.equal("Daniel");
  });

  it("is the first behind the voice that the browser has, whatever the browser adds to its name", async () => {
    const native = speaking();
    await connect(native).speak("Bonjour.", { voice: "French Canadian Female" });
    expect(native.spoken[0]?.voice?.name).to.equal("Amélie");
    expect(played).to.equal(0);
  });

  it("is chosen by language, a local voice first, where no voice is named", async () => {
    const native = speaking();
    await connect(native).speak("Good morning.", { lang: "en-GB" });
    expect(native.spoken[0]?.voice?.name).to.equal("Daniel");
  });

  it("leaves to the service what none of them is: a similar voice will not do", async () => {
    const native = speaking();
    const told = recordEvents(connect(native));
    await client.speak("Good morning.", { voice: "UK English Female" });
    expect(native.spoken).to.deep.equal([]);
    expect(played).to.equal(1);
    expect(told.find(({ type }) => type === "OnServiceSwitched")).to.include({ from: "native", to: "g1" });
  });

  it("is not chosen where it is not preferred", async () => {
    const native = speaking();
    const told = recordEvents(connect(native, false));
    await client.speak("Bonjour.", { voice: "Amélie" });
    expect(native.spoken).to.deep.equal([]);
    expect(told.some(({ type }) => type === "OnServiceSwitched")).to.equal(false);
  });

  it("is told like any other speech, and of each word where it is in the text", async () => {
    const text = `${"a".repeat(200)}. ${"b".repeat(200)}.`;
    const boundaries: unknown[] = [];
    const told = recordEvents(connect(speaking()));
    await client.speak(text, { voice: "Amélie", onboundary: (...at) => boundaries.push(at) });
    expect(told.map(({ type }) => type).slice(2)).to.deep.equal([
      "OnVoiceResolved",
      "OnStart",
      "OnPartStart",
      "OnPartEnd",
      "OnPartStart",
      "OnPartEnd",
      "OnEnd",
    ]);
    expect(boundaries).to.deep.equal([
      [4, "word"],
      [206, "word"],
    ]);
  });

  it("is taken over by the service from the part where the browser failed, and is one speech all the same", async () => {
    const text = `${"a".repeat(200)}. ${"b".repeat(200)}. ${"c".repeat(200)}.`;
    const native = speaking((part) => (part.startsWith("b") ? "synthesis-failed" : undefined));
    const told = recordEvents(connect(native));
    expect(await client.speak(text, { voice: "Amélie" })).to.deep.equal({ cancelled: false });
    expect(played).to.equal(2);
    const order = told.slice(2).map((event) => `${event.type} ${"index" in event ? event.index : ""}`.trim());
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

  it("tells of the way back, and of the engine that the catalog names", async () => {
    const told = recordEvents(connect(speaking()));
    await client.speak("Bore da.", { voice: "Welsh Female" });
    await client.speak("Prynhawn da.", { voice: "Welsh Female" });
    await client.speak("Bonjour.", { voice: "Amélie" });
    const switches = told.flatMap((event) => ("from" in event ? [`${event.from} to ${event.to}`] : []));
    expect(switches).to.deep.equal(["native to g5", "g5 to native"]);
  });

  it("halts, goes on and falls silent as it is told to", async () => {
    const native = speaking();
    connect(native);
    const over = client.speak("Endless.", { voice: "Amélie" });
    await nextEvent(client, "OnPartStart");
    client.pause();
    client.resume();
    client.cancel();
    expect(await over).to.deep.equal({ cancelled: true });
    expect(native.calls).to.deep.equal(["pause", "resume", "cancel", "resume"]);
  });

  it("is reported with the platform that it is on, and nothing of who is on it", async () => {
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
      { nativeSpeech: speaking(), navigator: { userAgent }, now: () => 0 },
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

  it("cannot be reported where there is no browser", async () => {
    client = new Voxledger({ apiKey: "k", baseUrl: server.url });
    expect(await rejection(client.reportVoices())).to.include({ code: "NOT_SUPPORTED" });
  });
});
