import { expect } from "chai";
import { type PlayableSound, type PlaySound, Voxledger, type VoxledgerConfig } from "voxledger/client";
import { bytesOf, type Credentials, registerWebsite, synthesize } from "../support/client.ts";
import { nextEvent, recordEvents } from "../support/client-library/recorded-events.ts";
import {
  configResponse,
  errorResponse,
  type StubResponse,
  type StubServer,
  startStubServer,
} from "../support/client-library/stub-server.ts";
import { rejection } from "../support/rejection.ts";
import { type RunningService, startService, temporaryFolder } from "../support/service.ts";

const silent: PlaySound = () => {};
const sound = (headers: Readonly<Record<string, string>> = {}): StubResponse => ({
  headers: { "Content-Type": "audio/mpeg", ...headers },
  body: "sound",
});
const types = (told: readonly { type: string }[]): string[] => told.map(({ type }) => type);

describe("speech by the client library in Node", () => {
  const clients: Voxledger[] = [];
  const connect = (configuration: VoxledgerConfig, player: PlaySound = silent): Voxledger => {
    const client = new Voxledger(configuration, { player, sleep: async () => {} });
    clients.push(client);
    return client;
  };
  afterEach(() => {
    for (const client of clients.splice(0)) client.close();
  });

  describe("from the service", () => {
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let service: RunningService;
    let website: Credentials;
    before(async () => {
      folder = await temporaryFolder();
      service = await startService(folder.path);
      website = await registerWebsite(service.url);
    });
    after(async () => {
      await service.stop();
      await folder.remove();
    });
    const connected = (player?: PlaySound) =>
      connect({ apiKey: website.apiKey, apiSecret: website.apiSecret, baseUrl: service.url }, player);

    it("hands each part's bytes to the player, in order, the same that the service gives to anybody", async () => {
      const played: PlayableSound[] = [];
      const client = connected((one) => void played.push(one));
      const parts = ["It is a long sentence. ".repeat(12).trim(), "And this is the end."];
      const spoken = await client.speak(parts.join(" "), { voice: "US English Male", rate: 1.4 });
      expect(spoken).to.deep.equal({ cancelled: false });
      const expected = await Promise.all(
        parts.map(async (text) =>
          bytesOf(await synthesize(service.url, website, { text, voice: "US English Male", rate: "1.4" })),
        ),
      );
      expect(played.map(({ bytes }) => Buffer.from(bytes).equals(expected.shift() as Buffer))).to.deep.equal([
        true,
        true,
      ]);
      expect(played[0]).to.deep.include({
        contentType: "audio/mpeg",
        prosody: { playbackRate: 1, volume: 1 },
      });
    });

    it("is told from its loading to its end", async () => {
      const client = connected();
      const told = recordEvents(client);
      await client.speak("Hello.", { lang: "fr-FR" });
      expect(types(told)).to.deep.equal([
        "OnLoad",
        "OnReady",
        "OnVoiceResolved",
        "OnStart",
        "OnPartStart",
        "OnPartEnd",
        "OnEnd",
      ]);
      expect(told[2]).to.deep.include({ voice: undefined, lang: "fr-FR", native: false });
      expect(told[4]).to.deep.include({ index: 0, charIndex: 0, text: "Hello." });
      expect(told.every(({ timestamp }) => timestamp > 1.7e12)).to.equal(true);
    });

    it("is silence, told like any other, at volume 0", async () => {
      const played: PlayableSound[] = [];
      const client = connected((one) => void played.push(one));
      const told = recordEvents(client);
      await client.speak("Nothing to hear.", { volume: 0 });
      expect(played).to.deep.equal([]);
      expect(types(told)).to.include.members(["OnStart", "OnPartStart", "OnPartEnd", "OnEnd"]);
    });

    it("goes by a body where it would be too long for an address", async () => {
      const ssml = `<speak>${"<s>Très bien élevé.</s>".repeat(150)}</speak>`;
      const played: PlayableSound[] = [];
      await connected((one) => void played.push(one)).speak(ssml, { lang: "fr-FR", rate: 2 });
      expect(played).to.have.length(1);
    });

    it("fails with the service's words, told once to whoever listens", async () => {
      const client = connected();
      const told = recordEvents(client);
      const failures: unknown[] = [];
      const failure = await rejection(
        client.speak("Hello.", { voice: "Nobody", onerror: (e) => failures.push(e) }),
      );
      expect(failure).to.include({ status: 404, code: "NOT_FOUND" });
      expect(failures).to.deep.equal([failure]);
      expect(types(told)).to.deep.equal(["OnLoad", "OnReady", "OnError"]);
    });

    it("tells all voices, with a version that stays while they do", async () => {
      const client = connected();
      const [one, two] = [await client.voices(), await client.voices()];
      expect(one.voices.length).to.be.above(200);
      expect(one.version).to.match(/\S{8,}/);
      expect(two.version).to.equal(one.version);
      expect((await client.voicesByLanguage("cy-GB")).voices.map(({ lang }) => lang)).to.deep.equal([
        "cy-GB",
        "cy-GB",
      ]);
      expect(await rejection(client.voice("No/body?"))).to.include({ status: 404 });
    });
  });

  describe("from a service made up", () => {
    let server: StubServer;
    const serve = async (
      answer: (text: string) => StubResponse,
      options: object = {},
      player?: PlaySound,
    ) => {
      server = await startStubServer(({ url = "" }) => {
        if (!url.startsWith("/v2/text/")) return configResponse;
        return answer(new URL(url, server.url).searchParams.get("text") ?? "");
      });
      return connect({ apiKey: "k", baseUrl: server.url, retryAttempts: 0, ...options }, player);
    };
    const long = (first: string): string =>
      `${first.padEnd(200, "a")}. ${"b".repeat(200)}. ${"c".repeat(200)}.`;
    const asked = (): string[] =>
      server.requests.flatMap(
        (line) => new URL(line.slice(4), server.url).searchParams.get("text")?.slice(0, 1) ?? [],
      );
    afterEach(() => server.close());

    it("has the next part on its way while one is played, and no more than that", async () => {
      const seen: string[][] = [];
      const arrived = Promise.withResolvers<void>();
      const client = await serve(
        (text) => {
          if (text.startsWith("b")) arrived.resolve();
          return sound();
        },
        {},
        async () => {
          if (seen.length === 0) await arrived.promise;
          seen.push(asked());
        },
      );
      await client.speak(long("a"));
      expect(seen[0]).to.deep.equal(["a", "b"]);
      expect(asked()).to.deep.equal(["a", "b", "c"]);
    });

    it("leaves to the player what the service did not apply, but never pitch", async () => {
      const played: object[] = [];
      const client = await serve(
        () => sound({ "Acme-Prosody-Applied": "volume, tone" }),
        {},
        ({ prosody }) => void played.push(prosody),
      );
      await client.speak("Hello.", { pitch: 2, rate: 1.5, volume: 0.5 });
      await client.speak("Hello.", { pitch: 2, rate: 1.5, volume: 0.5, prosodyFallback: false });
      expect(played).to.deep.equal([
        { playbackRate: 1.5, volume: 1 },
        { playbackRate: 1, volume: 1 },
      ]);
    });

    it("asks for the voice of the call, or else of the page, or else of the website, and for its prosody", async () => {
      const client = await serve(() => sound(), { defaultVoice: "Page Voice", defaultLang: "de-DE" });
      await client.speak("1", { voice: "Call Voice", lang: "fr-FR", volume: 0.5 });
      await client.speak("2", { lang: "fr-FR" });
      await client.speak("3");
      const plain = connect({ apiKey: "k", baseUrl: server.url });
      await plain.speak("4", { rate: 1, pitch: 0.8 });
      expect(server.requests.filter((line) => line.includes("synthesize"))).to.deep.equal([
        "GET /v2/text/synthesize?text=1&voice=Call+Voice&volume=0.5&key=k",
        "GET /v2/text/synthesize?text=2&lang=fr-FR&key=k",
        "GET /v2/text/synthesize?text=3&voice=Page+Voice&key=k",
        "GET /v2/text/synthesize?text=4&voice=UK+English+Female&pitch=0.8&key=k",
      ]);
    });

    it("ends when it is cancelled, at once, whatever the player does, and asks for no more", async () => {
      const client = await serve(
        () => sound(),
        {},
        () => new Promise(() => {}),
      );
      const told = recordEvents(client);
      const ends: unknown[] = [];
      const speaking = client.speak(long("a"), { onend: (end) => ends.push(end) });
      await nextEvent(client, "OnPartStart");
      client.cancel();
      expect(types(told).at(-1)).to.equal("OnEnd");
      expect(await speaking).to.deep.equal({ cancelled: true });
      expect(ends).to.deep.equal([{ cancelled: true }]);
      client.cancel();
      expect(types(told).filter((type) => type === "OnEnd")).to.have.length(1);
      expect(asked()).to.not.include("c");
    });

    it("gives way to the next speech", async () => {
      let plays = 0;
      const client = await serve(
        () => sound(),
        {},
        async () => {
          if (plays++ === 0) await new Promise(() => {});
        },
      );
      const told = recordEvents(client);
      const first = client.speak("One.");
      await nextEvent(client, "OnStart");
      const second = client.speak("Two.");
      expect(await first).to.deep.equal({ cancelled: true });
      expect(await second).to.deep.equal({ cancelled: false });
      expect(types(told).filter((type) => /OnStart|OnEnd/.test(type))).to.deep.equal([
        "OnStart",
        "OnEnd",
        "OnStart",
        "OnEnd",
      ]);
    });

    it("ends without having started when it is cancelled before its first sound", async () => {
      const client = await serve(() => ({ hang: true }));
      const told = recordEvents(client);
      await nextEvent(client, "OnReady");
      const speaking = client.speak("Hello.");
      client.cancel();
      expect(await speaking).to.deep.equal({ cancelled: true });
      expect(types(told).filter((type) => /OnStart|OnEnd/.test(type))).to.deep.equal([]);
    });

    it("plays no further part while it is paused, and tells of a pause once", async () => {
      const played: string[] = [];
      const client = await serve(
        () => sound(),
        {},
        () => void played.push("part"),
      );
      const told = recordEvents(client);
      client.pause();
      const speaking = client.speak(long("a"));
      await nextEvent(client, "OnPartStart");
      client.pause();
      client.pause();
      await nextEvent(client, "OnPartEnd");
      expect(played).to.deep.equal(["part"]);
      client.resume();
      client.resume();
      await speaking;
      expect(types(told).filter((type) => /OnPause|OnResume|OnPartStart/.test(type))).to.deep.equal([
        "OnPartStart",
        "OnPause",
        "OnResume",
        "OnPartStart",
        "OnPartStart",
      ]);
    });

    it("fails in the middle without an end, where a later part cannot be had", async () => {
      const client = await serve((text) => (text.startsWith("b") ? errorResponse(502, undefined) : sound()));
      const told = recordEvents(client);
      expect(await rejection(client.speak(long("a")))).to.include({ status: 502, message: "it was 502" });
      expect(types(told).slice(-2)).to.deep.equal(["OnPartEnd", "OnError"]);
    });

    it("goes on when a listener fails", async () => {
      const uncaught: unknown[] = [];
      const listeners = process.listeners("uncaughtException");
      process.removeAllListeners("uncaughtException");
      process.on("uncaughtException", (error) => uncaught.push(error));
      const client = await serve(() => sound());
      client.on("OnStart", () => {
        throw new Error("the listener's own");
      });
      expect(await client.speak("Hello.")).to.deep.equal({ cancelled: false });
      process.removeAllListeners("uncaughtException");
      for (const listener of listeners) process.on("uncaughtException", listener);
      expect(uncaught).to.have.length(1);
    });

    it("needs something to say", async () => {
      const client = await serve(() => sound());
      expect(await rejection(client.speak("  "))).to.include({ code: "VALIDATION_ERROR" });
    });

    it("needs a player", async () => {
      server = await startStubServer(({ url }) => (url?.startsWith("/v2/config") ? configResponse : sound()));
      const client = new Voxledger({ apiKey: "k", baseUrl: server.url });
      clients.push(client);
      expect(await rejection(client.speak("Hello."))).to.include({ code: "NOT_SUPPORTED" });
    });

    it("tells of its requests when debugged, and never of the text", async () => {
      const lines: string[] = [];
      server = await startStubServer(({ url }) => (url?.startsWith("/v2/config") ? configResponse : sound()));
      const client = new Voxledger(
        { apiKey: "k", baseUrl: server.url, debug: true },
        { player: silent, log: (line) => lines.push(line) },
      );
      clients.push(client);
      await client.speak("My secret.");
      expect(lines).to.deep.equal([
        "voxledger: GET v2/config: 200",
        "voxledger: GET v2/text/synthesize: 200",
      ]);
    });
  });
});
