import { expect } from "chai";
import {
  type PlayableSound,
  type PlaySound,
  Voxledger,
  type VoxledgerConfig,
} from "../../src/client/voxledger.ts";
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

const discard: PlaySound = () => {};
const audioResponse = (headers: Readonly<Record<string, string>> = {}): StubResponse => ({
  headers: { "Content-Type": "audio/mpeg", ...headers },
  body: "sound",
});
const types = (events: readonly { type: string }[]): string[] => events.map(({ type }) => type);

describe("Voxledger.speak in Node", () => {
  const clients: Voxledger[] = [];
  const connect = (configuration: VoxledgerConfig, player: PlaySound = discard): Voxledger => {
    const client = new Voxledger(configuration, { player, sleep: async () => {} });
    clients.push(client);
    return client;
  };
  afterEach(() => {
    for (const client of clients.splice(0)) client.close();
  });

  describe("with a running service", () => {
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

    it("passes the bytes of each part to the player in order, identical to the service's own responses", async () => {
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

    it("fires its events in order, from OnLoad to OnEnd", async () => {
      const client = connected();
      const events = recordEvents(client);
      await client.speak("Hello.", { lang: "fr-FR" });
      expect(types(events)).to.deep.equal([
        "OnLoad",
        "OnReady",
        "OnVoiceResolved",
        "OnStart",
        "OnPartStart",
        "OnPartEnd",
        "OnEnd",
      ]);
      expect(events[2]).to.deep.include({ voice: undefined, lang: "fr-FR", native: false });
      expect(events[4]).to.deep.include({ index: 0, charIndex: 0, text: "Hello." });
      expect(events.every(({ timestamp }) => timestamp > 1.7e12)).to.equal(true);
    });

    it("plays nothing at volume 0, but fires the same events", async () => {
      const played: PlayableSound[] = [];
      const client = connected((one) => void played.push(one));
      const events = recordEvents(client);
      await client.speak("Silence.", { volume: 0 });
      expect(played).to.deep.equal([]);
      expect(types(events)).to.include.members(["OnStart", "OnPartStart", "OnPartEnd", "OnEnd"]);
    });

    it("uses POST for a request that is too long for a URL", async () => {
      const ssml = `<speak>${"<s>Très bien élevé.</s>".repeat(150)}</speak>`;
      const played: PlayableSound[] = [];
      await connected((one) => void played.push(one)).speak(ssml, { lang: "fr-FR", rate: 2 });
      expect(played).to.have.length(1);
    });

    it("rejects with the service's error and reports it once", async () => {
      const client = connected();
      const events = recordEvents(client);
      const failures: unknown[] = [];
      const failure = await rejection(
        client.speak("Hello.", { voice: "Nobody", onerror: (e) => failures.push(e) }),
      );
      expect(failure).to.include({ status: 404, code: "NOT_FOUND" });
      expect(failures).to.deep.equal([failure]);
      expect(types(events)).to.deep.equal(["OnLoad", "OnReady", "OnError"]);
    });

    it("lists all voices with a stable version", async () => {
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

  describe("with a stub service", () => {
    let server: StubServer;
    const serve = async (
      respond: (text: string) => StubResponse,
      options: object = {},
      player?: PlaySound,
    ) => {
      server = await startStubServer(({ url = "" }) => {
        if (!url.startsWith("/v2/text/")) return configResponse;
        return respond(new URL(url, server.url).searchParams.get("text") ?? "");
      });
      return connect({ apiKey: "k", baseUrl: server.url, retryAttempts: 0, ...options }, player);
    };
    const longText = (first: string): string =>
      `${first.padEnd(200, "a")}. ${"b".repeat(200)}. ${"c".repeat(200)}.`;
    const requestedParts = (): string[] =>
      server.requests.flatMap(
        (line) => new URL(line.slice(4), server.url).searchParams.get("text")?.slice(0, 1) ?? [],
      );
    afterEach(() => server.close());

    it("prefetches one part while the current one plays", async () => {
      const seen: string[][] = [];
      const arrived = Promise.withResolvers<void>();
      const client = await serve(
        (text) => {
          if (text.startsWith("b")) arrived.resolve();
          return audioResponse();
        },
        {},
        async () => {
          if (seen.length === 0) await arrived.promise;
          seen.push(requestedParts());
        },
      );
      await client.speak(longText("a"));
      expect(seen[0]).to.deep.equal(["a", "b"]);
      expect(requestedParts()).to.deep.equal(["a", "b", "c"]);
    });

    it("lets the player apply rate and volume that the service did not apply, but never pitch", async () => {
      const played: object[] = [];
      const client = await serve(
        () => audioResponse({ "Acme-Prosody-Applied": "volume, tone" }),
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

    it("uses the voice of the call, or else of the page, or else of the website, and the website's prosody", async () => {
      const client = await serve(() => audioResponse(), { defaultVoice: "Page Voice", defaultLang: "de-DE" });
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

    it("ends at once when it is cancelled, and requests no further parts", async () => {
      const client = await serve(
        () => audioResponse(),
        {},
        () => new Promise(() => {}),
      );
      const events = recordEvents(client);
      const ends: unknown[] = [];
      const finished = client.speak(longText("a"), { onend: (end) => ends.push(end) });
      await nextEvent(client, "OnPartStart");
      client.cancel();
      expect(types(events).at(-1)).to.equal("OnEnd");
      expect(await finished).to.deep.equal({ cancelled: true });
      expect(ends).to.deep.equal([{ cancelled: true }]);
      client.cancel();
      expect(types(events).filter((type) => type === "OnEnd")).to.have.length(1);
      expect(requestedParts()).to.not.include("c");
    });

    it("cancels the current speech when another one starts", async () => {
      let plays = 0;
      const client = await serve(
        () => audioResponse(),
        {},
        async () => {
          if (plays++ === 0) await new Promise(() => {});
        },
      );
      const events = recordEvents(client);
      const first = client.speak("One.");
      await nextEvent(client, "OnStart");
      const second = client.speak("Two.");
      expect(await first).to.deep.equal({ cancelled: true });
      expect(await second).to.deep.equal({ cancelled: false });
      expect(types(events).filter((type) => /OnStart|OnEnd/.test(type))).to.deep.equal([
        "OnStart",
        "OnEnd",
        "OnStart",
        "OnEnd",
      ]);
    });

    it("fires neither OnStart nor OnEnd when it is cancelled before its first sound", async () => {
      const client = await serve(() => ({ hang: true }));
      const events = recordEvents(client);
      await nextEvent(client, "OnReady");
      const finished = client.speak("Hello.");
      client.cancel();
      expect(await finished).to.deep.equal({ cancelled: true });
      expect(types(events).filter((type) => /OnStart|OnEnd/.test(type))).to.deep.equal([]);
    });

    it("plays no further part while it is paused, and fires OnPause and OnResume once", async () => {
      const played: string[] = [];
      const client = await serve(
        () => audioResponse(),
        {},
        () => void played.push("part"),
      );
      const events = recordEvents(client);
      client.pause();
      const finished = client.speak(longText("a"));
      await nextEvent(client, "OnPartStart");
      client.pause();
      client.pause();
      await nextEvent(client, "OnPartEnd");
      expect(played).to.deep.equal(["part"]);
      client.resume();
      client.resume();
      await finished;
      expect(types(events).filter((type) => /OnPause|OnResume|OnPartStart/.test(type))).to.deep.equal([
        "OnPartStart",
        "OnPause",
        "OnResume",
        "OnPartStart",
        "OnPartStart",
      ]);
    });

    it("fires OnError and no OnEnd when a later part fails", async () => {
      const client = await serve((text) =>
        text.startsWith("b") ? errorResponse(502, undefined) : audioResponse(),
      );
      const events = recordEvents(client);
      expect(await rejection(client.speak(longText("a")))).to.include({ status: 502, message: "status 502" });
      expect(types(events).slice(-2)).to.deep.equal(["OnPartEnd", "OnError"]);
    });

    it("continues when a listener throws", async () => {
      const uncaught: unknown[] = [];
      const listeners = process.listeners("uncaughtException");
      process.removeAllListeners("uncaughtException");
      process.on("uncaughtException", (error) => uncaught.push(error));
      const client = await serve(() => audioResponse());
      client.on("OnStart", () => {
        throw new Error("thrown by the listener");
      });
      expect(await client.speak("Hello.")).to.deep.equal({ cancelled: false });
      process.removeAllListeners("uncaughtException");
      for (const listener of listeners) process.on("uncaughtException", listener);
      expect(uncaught).to.have.length(1);
    });

    it("rejects an empty text with VALIDATION_ERROR", async () => {
      const client = await serve(() => audioResponse());
      expect(await rejection(client.speak("  "))).to.include({ code: "VALIDATION_ERROR" });
    });

    it("rejects with NOT_SUPPORTED without a player", async () => {
      server = await startStubServer(({ url }) =>
        url?.startsWith("/v2/config") ? configResponse : audioResponse(),
      );
      const client = new Voxledger({ apiKey: "k", baseUrl: server.url });
      clients.push(client);
      expect(await rejection(client.speak("Hello."))).to.include({ code: "NOT_SUPPORTED" });
    });

    it("logs requests with `debug`, but never the text", async () => {
      const lines: string[] = [];
      server = await startStubServer(({ url }) =>
        url?.startsWith("/v2/config") ? configResponse : audioResponse(),
      );
      const client = new Voxledger(
        { apiKey: "k", baseUrl: server.url, debug: true },
        { player: discard, log: (line) => lines.push(line) },
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
