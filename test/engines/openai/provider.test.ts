import { expect } from "chai";
import { EngineFailed, Invalid } from "../../../src/domain/errors.ts";
import { type ProviderCredentials, parseCredentials } from "../../../src/domain/synthesis/byok-providers.ts";
import type { AudioFormat } from "../../../src/domain/synthesis/formats.ts";
import { normalProsody } from "../../../src/domain/synthesis/speech.ts";
import { wavHeader } from "../../../src/domain/synthesis/wav-header.ts";
import type { SpeechRequest } from "../../../src/engines/engine.ts";
import { openAiProvider } from "../../../src/engines/openai/provider.ts";
import { createExchange } from "../../../src/engines/provider-http/exchange.ts";
import { UpstreamFailed } from "../../../src/engines/provider-http/request-failed.ts";
import { createSsrfGuard, ForbiddenAddress } from "../../../src/engines/provider-http/ssrf-guard.ts";
import { engineContract } from "../../contracts/engine.ts";
import { collect } from "../../support/collect.ts";
import { recordRequests } from "../../support/record-requests.ts";
import { rejection } from "../../support/rejection.ts";
import type { Fault, WireResponse } from "../../support/wire/faults.ts";
import { closedGate } from "../../support/wire/gate.ts";
import { makeSound, type SoundFormat } from "../../support/wire/made-sound.ts";
import { openAiApiKey, openAiVoices, serveOpenAi } from "../../support/wire/openai.ts";
import type { WireServer } from "../../support/wire/wire-server.ts";

const sentence = "The quick brown fox jumps over the lazy dog, and then it goes home to its children.";
const never = new AbortController().signal;
const credentials = { apiKey: openAiApiKey };

const requestOf = (changed: Partial<SpeechRequest> = {}): SpeechRequest => ({
  text: sentence,
  ssml: false,
  voice: "alloy",
  lang: "en-US",
  prosody: normalProsody,
  format: "mp3",
  ...changed,
});

const operators = createExchange({ guard: createSsrfGuard({ by: "operator" }) });
const websites = createExchange({
  guard: createSsrfGuard({ by: "website", allowLoopback: false, networks: [] }),
});

const accountAt = (url: string, given: Partial<ProviderCredentials["oai"]> = {}) =>
  openAiProvider({ baseUrl: url, operators, websites }).open({ ...credentials, ...given });

engineContract("oai", async () => {
  const server = await serveOpenAi();
  return {
    engine: accountAt(server.url, { voices: openAiVoices }).engine,
    request: requestOf(),
    longText: `${sentence} `.repeat(40),
    unspeakable: " … \n — ",
    idle: server.idle,
    end: server.close,
  };
});

describe("The OpenAI engine", () => {
  let server: WireServer;
  const closing: WireServer[] = [];

  beforeEach(async () => {
    server = await serveOpenAi();
    closing.push(server);
  });
  afterEach(async () => {
    await Promise.all(closing.splice(0).map(({ close }) => close()));
  });

  const engine = (given: Partial<ProviderCredentials["oai"]> = {}) => accountAt(server.url, given).engine;
  const say = async (
    changed: Partial<SpeechRequest> = {},
    given: Partial<ProviderCredentials["oai"]> = {},
  ) => {
    const { encoding, audio } = await engine(given).synthesize(requestOf(changed), never);
    return { encoding, sound: Buffer.concat(await collect(audio)) };
  };
  const sent = (at = -1) => JSON.parse(String(server.requests.at(at)?.body));

  for (const [format, responseFormat, magic] of [
    ["mp3", "mp3", "fff3"],
    ["ogg", "opus", "4f676753"],
  ] as const) {
    it(`requests ${format} as ${responseFormat}, and streams the response`, async () => {
      const { encoding, sound } = await say({ format });
      expect(sent().response_format).to.equal(responseFormat);
      expect(encoding).to.deep.equal({ kind: "encoded", format });
      expect(sound.toString("hex", 0, magic.length / 2)).to.equal(magic);
    });
  }

  it("requests wav as wav, and streams its samples", async () => {
    const { encoding, sound } = await say({ format: "wav" });
    expect(sent().response_format).to.equal("wav");
    expect(encoding).to.deep.equal({ kind: "pcm", sampleRate: 24_000 });
    const format = { kind: "pcm", sampleRate: 24_000 } as const;
    expect(sound.equals(await makeSound({ text: sentence, voice: "gmw/en-US+f1", format }))).to.equal(true);
  });

  it("returns the first audio before the response ends", async () => {
    const gate = closedGate();
    server.faults.next({ kind: "trickle", gate });
    const speaking = engine().synthesize(requestOf(), never);
    await gate.reached();
    gate.step();
    const listening = (await speaking).audio[Symbol.asyncIterator]();
    expect((await listening.next()).value.length).to.equal(4096);
    expect(server.requests[0]).to.include({ bytesSent: 4096, outcome: "active" });
    gate.open();
    while (!(await listening.next()).done);
    expect(server.requests[0]).to.include({ outcome: "answered" });
  });

  it("sends a rate only when it is not the default, clamped to the server's range", async () => {
    await say();
    expect(sent()).not.to.have.property("speed");
    for (const [rate, speed] of [
      [0, 0.25],
      [0.1, 0.25],
      [0.7, 0.7],
      [2, 2],
    ]) {
      await say({ prosody: { ...normalProsody, rate: rate ?? 1 } });
      expect(sent().speed).to.equal(speed);
    }
  });

  it("splits a text that is too long for one call, requests raw samples for each piece, and concatenates them", async () => {
    const text = `${sentence} `.repeat(60).trim();
    const { encoding, sound } = await say({ text });
    expect(encoding).to.deep.equal({ kind: "pcm", sampleRate: 24_000 });
    const pieces = server.requests.map(({ body }) => JSON.parse(String(body)));
    expect(new Set(pieces.map(({ response_format }) => response_format))).to.deep.equal(new Set(["pcm"]));
    expect(pieces.map(({ input }) => input).join("")).to.equal(text);
    for (const { input } of pieces) expect(Buffer.byteLength(input)).to.be.at.most(2000);
    expect(sound.length % 2).to.equal(0);
    expect(sound.length / 2 / 24_000).to.be.above(60);
  });

  for (const [script, sentence] of [
    ["Chinese", "他昨天坐火车去了牛津，然后又回来了。"],
    ["Hindi", "वह कल रेलगाड़ी से ऑक्सफ़ोर्ड गया और फिर लौट आया। "],
    ["Tamil", "அவர் நேற்று ரயிலில் ஆக்ஸ்போர்டுக்குச் சென்றார். "],
  ] as const) {
    it(`never sends more than 2,000 tokens, assuming at least a byte per token: ${script}`, async () => {
      const text = sentence.repeat(Math.ceil(2000 / sentence.length)).trim();
      await say({ text });
      const inputs = server.requests.map(({ body }) => JSON.parse(String(body)).input as string);
      expect(inputs.join("")).to.equal(text);
      for (const input of inputs) expect(Buffer.byteLength(input)).to.be.at.most(2000);
    });
  }

  it("refuses a piece of a long text that is far too short, and states the minimum duration of complete audio", async () => {
    const text = `${sentence} `.repeat(60);
    const headers = { "Content-Type": "audio/pcm" };
    const short: WireResponse = { status: 200, headers, body: Buffer.alloc(10 * 2 * 24_000, 1) };
    server.faults.next({ kind: "answer", response: short });
    const failure = await rejection(say({ text }));
    expect(failure).to.be.instanceOf(EngineFailed);
    expect((failure as Error).message).to.contain("parts of it are missing");
    const speech = await engine().synthesize(requestOf({ text: `${sentence} `.repeat(10) }), never);
    expect(speech.minSeconds).to.be.within(15, 25);
    await collect(speech.audio);
  });

  it("has only the voices that its credentials name", async () => {
    const own = engine({ voices: ["nova"] });
    expect(own.prosody("nova")).to.deep.equal(["rate"]);
    expect(own.prosody("alloy")).to.deep.equal([]);
    expect(await rejection(own.synthesize(requestOf(), never))).to.be.instanceOf(EngineFailed);
    expect(server.requests).to.have.length(0);
  });

  it("rejects SSML", async () => {
    const failure = await rejection(
      engine().synthesize(requestOf({ ssml: true, text: "<speak>x</speak>" }), never),
    );
    expect(failure).to.be.instanceOf(EngineFailed);
    expect(server.requests).to.have.length(0);
  });

  it("sends no request for a text without anything to pronounce", async () => {
    expect(await rejection(say({ text: "\u200b… —" }))).to.be.instanceOf(Invalid);
    expect(server.requests).to.have.length(0);
  });

  it("includes server and model in its version, and no credentials", () => {
    const version = (baseUrl: string) => accountAt(baseUrl, { model: "kokoro" }).engine.version("alloy");
    expect(version("https://tts.example:8443/openai/v1/?api-version=1")).to.equal(
      "openai tts.example:8443/openai/v1 kokoro",
    );
    expect(version("https://tts.example")).to.equal(version("https://tts.example/v1/"));
  });

  describe("when the server fails", () => {
    const failureOf = async (fault: Fault, changed: Partial<SpeechRequest> = {}): Promise<EngineFailed> => {
      server.faults.next(fault);
      const failure = await rejection(say(changed));
      expect(failure).to.be.instanceOf(EngineFailed);
      expect((failure as Error).message).not.to.include(openAiApiKey);
      return failure as EngineFailed;
    };

    it("does not retry", async () => {
      for (const fault of [
        { kind: "refusal", status: 500 },
        { kind: "cut before the answer" },
        { kind: "empty" },
      ] as const) {
        await failureOf(fault);
      }
      expect(server.requests).to.have.length(3);
    });

    for (const format of ["mp3", "ogg", "wav"] as const) {
      it(`never ends a truncated response normally: ${format}`, async () => {
        const failure = await failureOf({ kind: "cut" }, { format });
        expect(failure).to.be.instanceOf(UpstreamFailed).and.include({ stage: "answer", status: undefined });
      });
    }

    it("never ends a truncated piece of a long text normally", async () => {
      server.faults.next({ kind: "cut", afterBytes: 10_000 });
      expect(await rejection(say({ text: `${sentence} `.repeat(60) }))).to.be.instanceOf(UpstreamFailed);
      server.faults.next({ kind: "trickle", gate: opened() }, { kind: "cut", afterBytes: 10_000 });
      expect(await rejection(say({ text: `${sentence} `.repeat(60) }))).to.be.instanceOf(UpstreamFailed);
    });

    it("reports an empty response, an HTML page and malformed data by what they are", async () => {
      const messages = [];
      for (const kind of ["empty", "html", "malformed"] as const)
        messages.push((await failureOf({ kind })).message);
      expect(messages).to.deep.equal([
        "The response of the speech provider is invalid: it contains no audio.",
        "The response of the speech provider is invalid: it is not audio.",
        "The response of the speech provider is invalid: it is not audio.",
      ]);
    });

    it("passes on the message of an error with a success status", async () => {
      const response = {
        status: 200,
        headers: { "Content-Type": "application/json" },
        body: Buffer.from(`{"error":{"message":"Model is loading for ${openAiApiKey}."}}`),
      };
      expect((await failureOf({ kind: "answer", response })).message).to.match(
        /is not audio: Model is loading for …\.$/,
      );
    });

    it("passes on Retry-After", async () => {
      const failure = await failureOf({
        kind: "refusal",
        status: 429,
        retryAfter: "7",
        message: "Slow down.",
      });
      expect(failure).to.include({ message: "Slow down.", retryAfterSeconds: 7, status: 429 });
    });

    it("passes on the server's message without key and text", async () => {
      const message = `Incorrect API key provided: ${openAiApiKey} for '${sentence}'.`;
      const failure = await failureOf({ kind: "refusal", status: 401, message });
      expect(failure.message).to.equal("Incorrect API key provided: … for '…'.");
    });

    it("aborts the request when the caller aborts", async () => {
      const leaving = new AbortController();
      server.faults.next({ kind: "hang" });
      const speaking = engine().synthesize(requestOf(), leaving.signal);
      await server.seen(1);
      const reason = new Error("the caller left");
      leaving.abort(reason);
      expect(await rejection(speaking)).to.equal(reason);
      await server.idle();
      expect(server.requests[0]?.outcome).to.equal("left");
    });
  });

  describe("when the server returns another format than the requested one", () => {
    const giving = async (format: SoundFormat, type: string): Promise<WireResponse> => ({
      status: 200,
      headers: { "Content-Type": type },
      body: await makeSound({ text: sentence, voice: "gmw/en-US+f3", format }),
    });
    const received = async (
      kind: SoundFormat["kind"],
      sampleRate: number,
      type: string,
      format: AudioFormat,
    ) => {
      server.faults.next({ kind: "answer", response: await giving({ kind, sampleRate }, type) });
      return say({ format });
    };

    for (const kind of ["wav", "streamed wav"] as const) {
      it(`decodes a ${kind}`, async () => {
        const { encoding, sound } = await received(kind, 22_050, "audio/mpeg", "mp3");
        const samples = await makeSound({
          ...{ text: sentence, voice: "gmw/en-US+f3" },
          format: { kind: "pcm", sampleRate: 22_050 },
        });
        expect(encoding).to.deep.equal({ kind: "pcm", sampleRate: 22_050 });
        expect(sound.equals(samples)).to.equal(true);
      });
    }

    it("detects an MP3 whatever its Content-Type declares", async () => {
      const { encoding } = await received("mp3", 24_000, "audio/ogg", "mp3");
      expect(encoding).to.deep.equal({ kind: "encoded", format: "mp3" });
    });

    it("rejects data whose format is unknown", async () => {
      for (const kind of ["aac", "flac", "pcm"] as const) {
        expect(await rejection(received(kind, 24_000, "audio/mpeg", "mp3")), kind).to.be.instanceOf(
          EngineFailed,
        );
      }
    });

    it("concatenates the samples of WAV responses where raw samples are requested, and rejects other containers", async () => {
      const text = `${sentence} `.repeat(30);
      const samples = Buffer.alloc(60 * 2 * 24_000, 1);
      const wav: WireResponse = {
        status: 200,
        headers: { "Content-Type": "audio/wav" },
        body: Buffer.concat([wavHeader(24_000, samples.length), samples]),
      };
      server.faults.next({ kind: "answer", response: wav }, { kind: "answer", response: wav });
      const { encoding, sound } = await say({ text });
      expect(encoding.kind).to.equal("pcm");
      expect(sound.length).to.equal(2 * samples.length);
      for (const kind of ["mp3", "opus"] as const) {
        const response = await giving(
          { kind, sampleRate: 24_000 },
          `audio/${kind === "mp3" ? "mpeg" : "ogg"}`,
        );
        server.faults.next({ kind: "answer", response });
        expect(await rejection(say({ text })), kind).to.be.instanceOf(EngineFailed);
      }
    });
  });

  describe("lists its voices", () => {
    const list = (given: Partial<ProviderCredentials["oai"]> = {}, url = server.url) =>
      accountAt(url, given).listVoices(never);
    const other = async (options: Parameters<typeof serveOpenAi>[0]) => {
      server = await serveOpenAi(options);
      closing.push(server);
    };
    const requestLines = () => server.requests.map(({ method, path }) => `${method} ${path}`);

    it("as OpenAI's names when the server has no voice list", async () => {
      const voices = await list();
      expect(voices.map(({ name }) => name)).to.have.members(openAiVoices);
      expect(voices.filter(({ lang }) => lang !== undefined)).to.deep.equal([]);
      expect(voices.find(({ name }) => name === "onyx")?.gender).to.equal("m");
      expect(voices.find(({ name }) => name === "nova")?.gender).to.equal("f");
      expect(requestLines()).to.deep.equal(["GET /v1/models", "GET /v1/audio/voices"]);
    });

    it("as named in its credentials", async () => {
      const voices = await list({ voices: ["zf_xiaobei", "narrator"] });
      expect(voices).to.deep.equal([
        { name: "zf_xiaobei", lang: "zh-CN", gender: "f" },
        { name: "narrator", lang: undefined, gender: "f" },
      ]);
      expect(requestLines()).to.deep.equal(["GET /v1/models"]);
    });

    it("as listed by the server, with the language and gender that their names encode", async () => {
      await other({ listsVoices: true, voices: ["af_bella", "bm_george", "jf_alpha", "hm_omega", "onyx"] });
      expect(await list()).to.deep.equal([
        { name: "af_bella", lang: "en-US", gender: "f" },
        { name: "bm_george", lang: "en-GB", gender: "m" },
        { name: "jf_alpha", lang: "ja-JP", gender: "f" },
        { name: "hm_omega", lang: "hi-IN", gender: "m" },
        { name: "onyx", lang: undefined, gender: "m" },
      ]);
    });

    const responding = (value: unknown): Fault => ({
      kind: "answer",
      response: { status: 200, headers: {}, body: Buffer.from(JSON.stringify(value)) },
    });

    it("as listed by the server with ids, excluding invalid names", async () => {
      const voices = [{ id: "af_sky", name: "Sky" }, { name: "bare" }, { id: "a/b" }, {}, "bare"];
      server.faults.next(responding({ data: [] }), responding({ voices }));
      expect((await list()).map(({ name }) => name)).to.deep.equal(["af_sky", "bare"]);
    });

    it("as OpenAI's names when the server's list is HTML or empty", async () => {
      for (const nonsense of [responding({ voices: "all" }), responding([]), { kind: "html" }] as Fault[]) {
        server.faults.next(responding({ data: [] }), nonsense);
        expect(await list()).to.have.length(openAiVoices.length);
      }
    });

    it("only for credentials that the server accepts", async () => {
      const failure = (await rejection(list({ apiKey: "another-key" }))) as EngineFailed;
      expect(failure).to.be.instanceOf(UpstreamFailed).and.include({ status: 401 });
      expect(failure.message).to.equal("Incorrect API key provided: ….");
    });

    for (const status of [403, 404, 405]) {
      it(`after a synthesis request as credential check, where the models endpoint responds with ${status}`, async () => {
        server.faults.next({ kind: "refusal", status });
        expect(await list({ voices: ["nova"] })).to.have.length(1);
        expect(requestLines()).to.deep.equal(["GET /v1/models", "POST /v1/audio/speech"]);
        expect(sent()).to.include({ input: "Hello.", voice: "nova" });
        await server.idle();
        server.faults.next({ kind: "refusal", status }, { kind: "refusal", status: 401, message: "No." });
        expect(await rejection(list({ voices: ["nova"] }))).to.include({ message: "No." });
      });
    }

    it("never while the server fails", async () => {
      server.faults.next({ kind: "refusal", status: 500, message: "Out of order." });
      expect(await rejection(list())).to.include({ message: "Out of order.", status: 500 });
    });
  });

  it("uses the website's exchange for the base URL of credentials, and the operator's for the default one", async () => {
    const own = accountAt("http://127.0.0.1:1", { baseUrl: server.url });
    expect(await rejection(own.listVoices(never))).to.be.instanceOf(ForbiddenAddress);
    expect(await rejection(own.engine.synthesize(requestOf(), never))).to.be.instanceOf(ForbiddenAddress);
    expect(server.requests).to.have.length(0);
    const allowed = createExchange({
      guard: createSsrfGuard({ by: "website", allowLoopback: true, networks: [] }),
    });
    const provider = openAiProvider({ baseUrl: "http://127.0.0.1:1", operators, websites: allowed });
    const account = provider.open(parseCredentials("oai", { ...credentials, baseUrl: `${server.url}/v1/` }));
    expect(await account.listVoices(never)).to.have.length(openAiVoices.length);
  });
});

describe("A request of the OpenAI engine", () => {
  const speech = { model: "gpt-4o-mini-tts", input: sentence, voice: "alloy", response_format: "mp3" };
  const audio = Buffer.concat([Buffer.from([0xff, 0xf3, 0x64, 0xc4]), Buffer.alloc(1000)]);

  const saying = async (
    host: string,
    given: Partial<ProviderCredentials["oai"]>,
    changed: Partial<SpeechRequest> = {},
  ) => {
    const { engine } = accountAt("https://api.openai.com", given);
    const [request, ...others] = await recordRequests(
      [host],
      () => [200, audio, { "Content-Type": "audio/mpeg" }],
      async () => {
        const spoken = await engine.synthesize(requestOf(changed), never);
        expect(Buffer.concat(await collect(spoken.audio)).equals(audio)).to.equal(true);
      },
    );
    expect(others).to.deep.equal([]);
    if (!request) throw new Error("no request was sent");
    return request;
  };

  it("contains model, input, voice and format, and nothing else", async () => {
    const { path, headers, body } = await saying("https://api.openai.com", {});
    expect(path).to.equal("/v1/audio/speech");
    expect(headers).to.deep.equal({
      authorization: `Bearer ${openAiApiKey}`,
      connection: "keep-alive",
      "content-length": String(Buffer.byteLength(body)),
      "content-type": "application/json",
      host: "api.openai.com",
      "user-agent": "voxledger",
    });
    expect(body).to.equal(JSON.stringify(speech));
  });

  it("contains the rate when it is not the default, and never pitch or volume", async () => {
    const prosody = { pitch: 2, rate: 1.25, volume: 0.1 };
    const { body } = await saying("https://api.openai.com", {}, { prosody });
    expect(JSON.parse(body)).to.deep.equal({ ...speech, speed: 1.25 });
  });

  for (const [baseUrl, host, path] of [
    ["https://tts.example", "https://tts.example", "/v1/audio/speech"],
    ["https://tts.example/", "https://tts.example", "/v1/audio/speech"],
    ["https://tts.example/v1", "https://tts.example", "/v1/audio/speech"],
    ["https://tts.example/v1/", "https://tts.example", "/v1/audio/speech"],
    ["https://tts.example:8443/api/v3", "https://tts.example:8443", "/api/v3/audio/speech"],
    ["https://tts.example/openai", "https://tts.example", "/openai/v1/audio/speech"],
    [
      "https://az.example/openai/v1?api-version=x#y",
      "https://az.example",
      "/openai/v1/audio/speech?api-version=x",
    ],
  ] as const) {
    it(`for the base URL ${baseUrl} is sent to ${path}`, async () => {
      const request = await saying(host, { baseUrl, model: "kokoro" });
      expect(request.path).to.equal(path);
      expect(JSON.parse(request.body)).to.deep.equal({ ...speech, model: "kokoro" });
    });
  }

  it("for checking credentials lists the models at OpenAI, and sends no text", async () => {
    const requests = await recordRequests(
      ["https://api.openai.com"],
      () => [200, JSON.stringify({ object: "list", data: [] })],
      async () => expect(await accountAt("https://api.openai.com").listVoices(never)).to.have.length(13),
    );
    expect(requests.map(({ path, headers }) => [path, headers.authorization])).to.deep.equal([
      ["/v1/models", `Bearer ${openAiApiKey}`],
    ]);
  });
});

const opened = () => {
  const gate = closedGate();
  gate.open();
  return gate;
};
