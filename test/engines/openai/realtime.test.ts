import { expect } from "chai";
import { EngineFailed, Reworded } from "../../../src/domain/errors.ts";
import type { ProviderCredentials } from "../../../src/domain/synthesis/byok-providers.ts";
import { normalProsody } from "../../../src/domain/synthesis/speech.ts";
import type { SpeechRequest } from "../../../src/engines/engine.ts";
import { openAiProvider } from "../../../src/engines/openai/provider.ts";
import { upstreamDeadlines } from "../../../src/engines/provider-http/connection.ts";
import { createExchange } from "../../../src/engines/provider-http/exchange.ts";
import { UpstreamFailed } from "../../../src/engines/provider-http/request-failed.ts";
import { createSsrfGuard, ForbiddenAddress } from "../../../src/engines/provider-http/ssrf-guard.ts";
import { engineContract } from "../../contracts/engine.ts";
import { collect } from "../../support/collect.ts";
import { createManualTime, type ManualTime } from "../../support/manual-time.ts";
import { rejection } from "../../support/rejection.ts";
import { makeSound } from "../../support/wire/made-sound.ts";
import { openAiApiKey } from "../../support/wire/openai.ts";
import { type Behaviour, type RealtimeServer, serveRealtime } from "../../support/wire/realtime.ts";

const never = new AbortController().signal;
const model = "gpt-realtime-2.1-mini";
const sentence = "The quick brown fox jumps over the lazy dog, and then it goes home to its children.";

const requestOf = (changed: Partial<SpeechRequest> = {}): SpeechRequest => ({
  ...{ text: sentence, ssml: false, voice: "marin", lang: "en-US", prosody: normalProsody, format: "mp3" },
  ...changed,
});

const accountAt = (
  url: string,
  given: Partial<ProviderCredentials["oai"]> = {},
  time: ManualTime = createManualTime(),
) => {
  const exchangeOf = (by: "operator" | "website") =>
    createExchange({
      guard: createSsrfGuard(by === "operator" ? { by } : { by, allowLoopback: false, networks: [] }),
      time,
    });
  const exchanges = { operators: exchangeOf("operator"), websites: exchangeOf("website") };
  return openAiProvider({ baseUrl: url, ...exchanges }).open({ apiKey: openAiApiKey, model, ...given });
};

engineContract("oai, by a realtime model", async () => {
  const server = await serveRealtime();
  return {
    engine: accountAt(server.url, { voices: ["marin", "cedar"] }).engine,
    request: requestOf(),
    longText: `${sentence} `.repeat(20),
    unspeakable: " … \n — ",
    idle: () => server.until(() => server.sessions.every(({ isOpen }) => !isOpen)),
    end: server.close,
  };
});

describe("A realtime model of OpenAI", () => {
  let server: RealtimeServer;
  let time: ManualTime;
  beforeEach(async () => {
    server = await serveRealtime();
    time = createManualTime();
  });
  afterEach(() => server.close());

  const engine = () => accountAt(server.url, {}, time).engine;
  const say = async (changed: Partial<SpeechRequest> = {}) => {
    const { encoding, audio } = await engine().synthesize(requestOf(changed), never);
    return { encoding, sound: Buffer.concat(await collect(audio)) };
  };
  const isIdle = () => server.until(() => server.sessions.every(({ isOpen }) => !isOpen));
  const messageOf = (type: string, at = 0) =>
    server.sessions[at]?.messages.find((message) => message.type === type);

  it("is authenticated by a bearer token, and is asked to read the text outside of a conversation", async () => {
    const { encoding, sound } = await say({ instructions: "Whisper." });
    expect(encoding).to.deep.equal({ kind: "pcm", sampleRate: 24_000 });
    const format = { kind: "pcm", sampleRate: 24_000 } as const;
    expect(sound.equals(await makeSound({ text: sentence, voice: "gmw/en-US+f3", format }))).to.equal(true);
    const [session] = server.sessions;
    expect(session).to.include({
      path: `/v1/realtime?model=${model}`,
      authorization: `Bearer ${openAiApiKey}`,
    });
    expect(messageOf("session.update")).to.have.nested.property("session.audio.output.voice", "marin");
    const create = messageOf("response.create") as { response: { instructions: string; input: object[] } };
    expect(JSON.stringify(create.response.input)).to.include(JSON.stringify(sentence));
    expect(create.response.instructions)
      .to.match(/word for word.*\(en-US\)/)
      .and.match(/Whisper\.$/);
    expect(create.response.instructions).not.to.include(sentence);
    await isIdle();
  });

  it("has a version of its own, and leaves that of other models unchanged", () => {
    const version = (given: string) =>
      accountAt("https://api.openai.com", { model: given }).engine.version("alloy");
    expect(version(model)).to.equal(`openai api.openai.com/v1 ${model} realtime 1`);
    expect(version("gpt-4o-mini-tts")).to.equal("openai api.openai.com/v1 gpt-4o-mini-tts");
  });

  it("speaks at the rate of the request, within the server's range", async () => {
    for (const [rate, speed] of [
      [0.1, 0.25],
      [1.2, 1.2],
      [2, 1.5],
    ] as const) {
      await say({ prosody: { ...normalProsody, rate } });
      const update = messageOf("session.update", server.sessions.length - 1);
      expect(update).to.have.nested.property("session.audio.output.speed", speed);
    }
  });

  it("yields audio before its response has ended", async () => {
    server.next({ kind: "stop", midway: true });
    const { audio } = await engine().synthesize(requestOf(), never);
    expect((await audio[Symbol.asyncIterator]().next()).value.length).to.be.above(1000);
  });

  it("speaks a long text in pieces, of which two are in progress at most", async () => {
    const text = Array.from({ length: 20 }, (_, at) => `In year ${at} it went home again. ${sentence}`).join(
      " ",
    );
    const { sound } = await say({ text });
    expect(server.sessions.length).to.be.within(3, 6);
    expect(sound.length / 2 / 24_000).to.be.above(60);
    const spoken = server.sessions.map(({ messages }) =>
      JSON.stringify(messages.find(({ type }) => type === "response.create")),
    );
    expect(new Set(spoken).size).to.equal(spoken.length);
  });

  it("lists the voices that OpenAI has for such models", async () => {
    const names = (await accountAt(server.url).listVoices(never)).map(({ name }) => name);
    expect(names).to.include.members(["marin", "cedar"]).and.not.include("fable");
  });

  it("is verified by speaking where the list of models is not readable", async () => {
    const account = accountAt(server.url, { apiKey: "wrong" });
    expect(await rejection(account.listVoices(never))).to.include({ status: 401 });
  });

  it("speaks through the website's exchange for a base URL of its credentials", async () => {
    const own = accountAt("http://127.0.0.1:1", { baseUrl: server.url });
    expect(await rejection(own.engine.synthesize(requestOf(), never))).to.be.instanceOf(ForbiddenAddress);
    expect(server.sessions).to.have.length(0);
  });

  it("skips events of other types and other responses", async () => {
    const { sound } = await say();
    server.next({ kind: "noise" });
    expect((await say()).sound.equals(sound)).to.equal(true);
  });

  it("accepts a transcript that differs only in case and punctuation", async () => {
    server.next({ kind: "reword", transcript: (text) => text.toUpperCase().replaceAll(",", "") });
    await say();
  });

  const rewordings: readonly (readonly [string, Behaviour])[] = [
    ["contracts words", { kind: "reword", transcript: (text) => text.replace("it goes", "it's going") }],
    ["adds words", { kind: "reword", transcript: (text) => `Sure! ${text}` }],
    ["leaves out words", { kind: "reword", transcript: (text) => text.replace("quick ", "") }],
    ["says nothing", { kind: "reword", transcript: () => "" }],
    [
      "is cut off by a filter",
      { kind: "done", response: { status: "incomplete", status_details: { reason: "content_filter" } } },
    ],
    [
      "is cut off by its limit",
      { kind: "done", response: { status: "incomplete", status_details: { reason: "max_output_tokens" } } },
    ],
  ];
  for (const [what, behaviour] of rewordings) {
    it(`fails at the end of its audio when it ${what}, without another request`, async () => {
      server.next(behaviour);
      const { audio } = await engine().synthesize(requestOf(), never);
      const failure = await rejection(collect(audio));
      expect(failure).to.be.instanceOf(Reworded).and.include({ permanent: false });
      expect((failure as Error).message).to.match(
        /^The speech provider (?:spoke other words|did not speak all)/,
      );
      expect(server.sessions).to.have.length(1);
      await isIdle();
    });
  }

  const problem = (code: string, type = "invalid_request_error") => ({
    ...{ type, code, message: `No: ${openAiApiKey} and '${sentence}'.` },
  });
  /** What fails, and the status by which the circuit breaker judges it. */
  const failures: readonly (readonly [string, Behaviour, object])[] = [
    ["refuses the request", { kind: "error", error: problem("invalid_value") }, { status: 400 }],
    ["refuses midway", { kind: "error", error: problem("invalid_value"), midway: true }, { status: 400 }],
    ["refuses the key", { kind: "error", error: problem("invalid_api_key") }, { status: 401 }],
    ["is out of quota", { kind: "error", error: problem("insufficient_quota", "x") }, { status: 429 }],
    ["fails", { kind: "error", error: { type: "server_error", message: "Broken." } }, { status: 500 }],
    ["sends an empty error", { kind: "error", error: {} }, { status: 500 }],
    [
      "ends its response as failed",
      {
        kind: "done",
        response: {
          status: "failed",
          status_details: { error: { type: "server_error", code: "overloaded" } },
        },
      },
      { status: 500 },
    ],
    ["ends its response as cancelled", { kind: "done", response: { status: "cancelled" } }, { status: 500 }],
    ["destroys the connection midway", { kind: "cut" }, { stage: "answer", status: undefined }],
    ["closes the connection midway", { kind: "close" }, { stage: "answer", status: undefined }],
    ["sends a message that is no event", { kind: "message", message: "[]" }, { status: undefined }],
    ["sends a message that is no JSON", { kind: "message", message: "{" }, { status: undefined }],
    ["sends bytes", { kind: "message", message: Buffer.alloc(100, 255) }, { status: undefined }],
    [
      "sends a message of two megabytes",
      { kind: "message", message: JSON.stringify({ type: "x".repeat(2 << 20) }) },
      { stage: "answer", status: undefined },
    ],
    [
      "sends audio that is not base64",
      {
        kind: "message",
        message: JSON.stringify({
          type: "response.output_audio.delta",
          response_id: "resp_own",
          delta: "?".repeat(99),
        }),
      },
      { status: undefined },
    ],
  ];
  for (const [what, behaviour, details] of failures) {
    it(`fails with a message without key and text when it ${what}`, async () => {
      server.next(behaviour);
      const failure = await rejection(say());
      expect(failure).to.be.instanceOf(UpstreamFailed).and.include(details);
      expect((failure as Error).message)
        .not.to.include(openAiApiKey)
        .and.not.to.include("quick brown");
      expect(server.sessions).to.have.length(1);
      await isIdle();
    });
  }

  for (const type of ["response.output_audio.delta", "response.output_audio_transcript.done"]) {
    it(`fails without ${type}, which does not count as a failure of the provider`, async () => {
      server.next({ kind: "without", type });
      const failure = await rejection(say());
      expect(failure).to.be.instanceOf(EngineFailed).and.not.to.be.instanceOf(UpstreamFailed);
      await isIdle();
    });
  }

  it("passes on a refused handshake: status, message and Retry-After", async () => {
    const body = Buffer.from('{"error":{"message":"Slow down."}}');
    server.next({ kind: "refusal", response: { status: 429, headers: { "Retry-After": "7" }, body } });
    expect(await rejection(say())).to.include({ message: "Slow down.", status: 429, retryAfterSeconds: 7 });
  });

  it("does not follow a redirect", async () => {
    const headers = { Location: "http://169.254.169.254/" };
    server.next({ kind: "refusal", response: { status: 302, headers, body: Buffer.alloc(0) } });
    expect(await rejection(say()))
      .to.be.instanceOf(UpstreamFailed)
      .and.include({ status: 302 });
  });

  it("is reported as unreachable if nothing listens at its address", async () => {
    await server.close();
    expect(await rejection(say()))
      .to.be.instanceOf(UpstreamFailed)
      .and.include({ stage: "connect" });
    server = await serveRealtime();
  });

  it("has a deadline for the handshake", async () => {
    server.next({ kind: "unresponsive" });
    const failing = rejection(say());
    await server.until(() => server.sessions.length === 1);
    time.advance(upstreamDeadlines.firstByteMs);
    expect(await failing)
      .to.be.instanceOf(UpstreamFailed)
      .and.include({ stage: "waiting" });
    await isIdle();
  });

  for (const midway of [false, true]) {
    it(`has a deadline for the next event ${midway ? "midway" : "before its audio"}`, async () => {
      server.next({ kind: "stop", midway });
      let heard = 0;
      const failing = rejection(
        engine()
          .synthesize(requestOf(), never)
          .then(async ({ audio }) => {
            for await (const { length } of audio) heard += length;
          }),
      );
      await server.until(() => server.sessions[0]?.messages.length === 2);
      const advancing = setInterval(() => time.advance(upstreamDeadlines.firstByteMs), 20);
      expect(await failing)
        .to.be.instanceOf(UpstreamFailed)
        .and.include({ stage: "answer" });
      clearInterval(advancing);
      expect(heard > 0).to.equal(midway);
      await isIdle();
    });

    it(`is cancelled and closed when the caller leaves ${midway ? "midway" : "before its audio"}`, async () => {
      server.next({ kind: "stop", midway });
      const leaving = new AbortController();
      const speaking = engine().synthesize(requestOf(), leaving.signal);
      await server.until(() => server.sessions[0]?.messages.length === 2);
      const reason = new Error("the caller left");
      if (midway) await speaking;
      leaving.abort(reason);
      const failure = await rejection(speaking.then(({ audio }) => collect(audio)));
      expect(failure).to.equal(reason);
      await isIdle();
      expect(messageOf("response.cancel")).to.deep.equal({ type: "response.cancel" });
    });
  }
});
