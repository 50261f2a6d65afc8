import { expect } from "chai";
import { formats } from "../../../../src/domain/synthesis/formats.ts";
import { admin, type Credentials, registerWebsite } from "../../../support/client.ts";
import { duringSuite } from "../../../support/during.ts";
import { ask, type ReceivedResponse, startInProcessService } from "../../../support/in-process-service.ts";
import { adminToken } from "../../../support/service.ts";

const url = "/openai/v1/audio/speech";

describe("speech over OpenAI's API", () => {
  const service = duringSuite(() =>
    startInProcessService({
      OPENAI_VOICE_MAP:
        "alloy=German Female, narrator=g1-en-GB-male, broken=Nobody, UK English Female=German Male",
      OPENAI_MODEL_MAP: "tts-1-hd=g2, gpt-9=g3, piper=any",
    }),
  );
  const website = duringSuite(() => registerWebsite(service.url));

  interface Sender {
    readonly caller?: Credentials;
    readonly headers?: Record<string, string>;
  }
  const post = (body: object, { caller = website, headers = {} }: Sender = {}): Promise<ReceivedResponse> =>
    ask(service.url + url, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${caller.apiKey}.${caller.apiSecret}`,
        "Content-Type": "application/json",
        ...headers,
      },
      body: JSON.stringify({ model: "tts-1", voice: "onyx", input: "Hello.", ...body }),
    });
  const errorIn = ({ text }: ReceivedResponse) => JSON.parse(text).error;

  const chargedTo = async ({ apiKey }: Credentials): Promise<unknown> =>
    (await admin(service.url, "GET", `/keys/${apiKey}/usage`)).body.characters;

  /** The servings of the key, as the audit shows them. */
  const servingsOf = async ({ apiKey }: Credentials): Promise<Record<string, unknown>[]> => {
    const { text } = await ask(`${service.url}/admin/audit?apiKey=${apiKey}`, {
      headers: { Authorization: `Bearer ${adminToken}` },
    });
    const entries = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    return entries.filter(({ type }) => type === "SynthesisServed").map(({ data }) => data);
  };

  /** How the request is served to a new key. */
  const served = async (body: object): Promise<Record<string, unknown> | undefined> => {
    const caller = await registerWebsite(service.url);
    expect((await post(body, { caller })).status).to.equal(200);
    return (await servingsOf(caller))[0];
  };

  describe("chooses the voice", () => {
    it("by any of its names, also as {id} and in another case", async () => {
      const friendly = { voice: "UK English Female", engine: "g1", lang: "en-GB" };
      expect(await served({ voice: "UK English Female" })).to.include(friendly);
      expect(await served({ voice: { id: "uk english female" } })).to.include(friendly);
      expect(await served({ voice: "g2-en-GB-male" })).to.include({ engine: "g2", voice: "g2-en-GB-male" });
      expect(await served({ voice: "espeak:gmw/en+f3" })).to.include({ voice: "g1-en-GB-female" });
    });

    it("by OpenAI's names, each with a voice that speaks", async () => {
      const names = ["echo", "fable", "onyx", "nova", "shimmer", "ash", "ballad", "cedar"];
      for (const voice of [...names, "coral", "marin", "sage", "verse"]) {
        const { status, text } = await post({ voice });
        expect(status, `${voice}: ${text.slice(0, 200)}`).to.equal(200);
      }
      expect(await served({ voice: "fable" })).to.include({ voice: "UK English Male" });
    });

    it("as the operator has mapped it, except names of the catalog", async () => {
      expect(await served({ voice: "alloy" })).to.include({ voice: "German Female", lang: "de-DE" });
      expect(await served({ voice: "narrator" })).to.include({ voice: "g1-en-GB-male" });
      expect(await served({ voice: "UK English Female" })).to.include({ voice: "UK English Female" });
    });

    it("by OpenAI's names and those of the operator in another case", async () => {
      expect(await served({ voice: "Fable" })).to.include({ voice: "UK English Male" });
      expect(await served({ voice: "NARRATOR" })).to.include({ voice: "g1-en-GB-male" });
    });

    it("that the operator has mapped alloy to, if the request names none", async () => {
      for (const voice of [undefined, null]) {
        expect(await served({ voice })).to.include({ voice: "German Female" });
      }
    });

    it("that the model names, if the request names none", async () => {
      expect(await served({ voice: undefined, model: "fable" })).to.include({ voice: "UK English Male" });
      expect(await served({ voice: undefined, model: "French Male" })).to.include({ voice: "French Male" });
      expect(await served({ voice: "onyx", model: "French Male" })).to.include({
        voice: "Scottish English Male",
      });
    });

    it("of the text's language and the same gender, instead of one of OpenAI's", async () => {
      for (const [voice, input, lang, gender] of [
        ["nova", "Der Zug nach München fährt morgen früh.", "de-DE", "female"],
        ["onyx", "Où est la gare, s'il vous plaît ?", "fr-FR", "male"],
        ["shimmer", "你好，世界", "zh-CN", "female"],
        ["echo", "Привет, мир!", "ru-RU", "male"],
        ["Echo", "<speak>Buongiorno a <break/>tutti!</speak>", "it-IT", "male"],
      ] as const) {
        expect(await served({ voice, input }), input).to.include({ voice: `g1-${lang}-${gender}`, lang });
      }
      const own = { voice: "g2-es-ES-male", engine: "g2", lang: "es-ES" };
      expect(await served({ voice: "onyx", model: "g2", input: "¿Dónde está la biblioteca?" })).to.include(
        own,
      );
    });

    it("of OpenAI's in English for English texts, names, and languages that the engine lacks", async () => {
      for (const body of [
        { input: "Hello." },
        { input: "El Niño" },
        { input: "Iĉo estas bela.", model: "g1" },
      ]) {
        expect(await served({ voice: "fable", ...body }), body.input).to.include({
          voice: "UK English Male",
        });
      }
    });

    it("that the operator has pinned, whatever the language of the text", async () => {
      expect(await served({ voice: "narrator", input: "Guten Morgen, wie geht es dir?" })).to.include({
        voice: "g1-en-GB-male",
      });
    });

    it("of the engine that the operator has mapped the model to, else of any", async () => {
      const voice = "UK English Female";
      expect(await served({ model: "tts-1-hd", voice })).to.include({ engine: "g2" });
      for (const model of ["tts-1-1106", "kokoro", "piper", "gpt-audio", "constructor", "gpt-10"]) {
        expect(await served({ model, voice }), model).to.include({ engine: "g1" });
      }
      expect(await served({ model: "gpt-9", voice: "fable" })).to.include({ engine: "g3" });
    });

    it("of the engine that the model names", async () => {
      expect(await served({ model: "g2", voice: "UK English Female" })).to.include({ engine: "g2" });
      expect(await served({ model: "g3", voice: "fable" })).to.include({ engine: "g3" });
      expect(await served({ model: "gpt-4o-mini-tts-2025-12-15" })).to.include({ engine: "g1" });
    });
  });

  it("refuses unknown voices with 400 and engines that do not run with 404, naming the member", async () => {
    const refused = async (body: object) => {
      const response = await post(body);
      const { type, param, code } = errorIn(response);
      return [response.status, type, param, code];
    };
    const unknownVoice = [400, "invalid_request_error", "voice", "invalid_value"];
    const noEngine = [404, "invalid_request_error", "model", "model_not_found"];
    expect(await refused({ model: "oai" }), "an engine without credentials").to.deep.equal(noEngine);
    expect(await refused({ voice: "Nobody" })).to.deep.equal(unknownVoice);
    expect(await refused({ voice: "broken" })).to.deep.equal(unknownVoice);
    expect(errorIn(await post({ voice: "broken" })).message).to.equal(
      'The voice "broken" stands for "Nobody", which does not exist.',
    );
    expect(await refused({ model: "g5", voice: "UK English Female" })).to.deep.equal(unknownVoice);
  });

  it("refuses invalid members with 400, naming the first, and ignores unknown ones", async () => {
    for (const [body, param] of [
      [{ input: undefined }, "input"],
      [{ input: " " }, "input"],
      [{ input: "x".repeat(5_001) }, "input"],
      [{ input: "…" }, "input"], // nothing to pronounce
      [{ voice: 1 }, "voice"],
      [{ voice: { name: "onyx" } }, "voice.id"],
      [{ speed: 4.1 }, "speed"],
      [{ speed: "fast" }, "speed"],
      [{ speed: "" }, "speed"],
      [{ speed: "0x1" }, "speed"],
      [{ speed: "4.1" }, "speed"],
      [{ speed: true }, "speed"],
      [{ response_format: "ogg" }, "response_format"],
      [{ stream_format: "websocket" }, "stream_format"],
    ] as const) {
      const response = await post(body);
      expect(response.status, JSON.stringify(body)).to.equal(400);
      expect(errorIn(response)).to.include({ type: "invalid_request_error", param });
    }
    const { status } = await post({ instructions: "Whisper.", language: "xx", volume: 0, user: { id: 1 } });
    expect(status).to.equal(200);
  });

  it("takes null for what is left open, and numbers in strings", async () => {
    const open = { response_format: null, speed: null, stream_format: null, instructions: null };
    const { status, headers, text } = await post(open);
    expect([status, headers["content-type"], headers["svc-speed-applied"]]).to.deep.equal([
      200,
      "audio/mpeg",
      "1",
    ]);
    expect(text).to.equal((await post({})).text);
    expect((await post({ speed: "1.2" })).headers["svc-speed-applied"]).to.equal("1.2");
  });

  it("responds in every format, with any Accept, and is never cached", async () => {
    for (const response_format of ["mp3", "opus", "aac", "flac", "wav", "pcm"] as const) {
      const { status, headers, text } = await post({ response_format }, { headers: { Accept: "image/png" } });
      expect([status, headers["content-type"]]).to.deep.equal([200, formats[response_format].mimeType]);
      expect(headers["cache-control"]).to.equal("no-store");
      expect(text.length).to.be.above(1_000);
    }
  });

  it("applies the speed, up to what voices can do, and says which", async () => {
    const sizes: number[] = [];
    for (const [speed, applied] of [
      [0.25, "0.5"],
      [1, "1"],
      [1.5, "1.5"],
      [4, "2"],
    ] as const) {
      const { headers, text } = await post({ speed, response_format: "wav" });
      expect(headers["svc-speed-applied"]).to.equal(applied);
      sizes.push(text.length);
    }
    expect(sizes).to.deep.equal(sizes.toSorted((a, b) => b - a));
  });

  it("shares recipes and charges with /v2", async () => {
    const caller = await registerWebsite(service.url);
    const text = "The same sound over two APIs.";
    const query = new URLSearchParams({ voice: "UK English Female", text });
    const headers = { Authorization: `Bearer ${caller.apiKey}.${caller.apiSecret}` };
    const whole = await ask(`${service.url}/v2/text/synthesize?${query}`, { headers });
    const streamed = await post({ voice: "UK English Female", input: text }, { caller });
    expect(streamed.headers).to.include({ "svc-cached": "memory", "character-cost": String(text.length) });
    expect(streamed.text).to.equal(whole.text);
    const [first, second] = await servingsOf(caller);
    expect(second).to.include({ hash: first?.hash, stream: "audio" });
    expect(await chargedTo(caller)).to.equal(2 * text.length);
  });

  it("charges a repeat with the same Idempotency-Key once", async () => {
    const caller = await registerWebsite(service.url);
    const repeated = () => post({ input: "Once." }, { caller, headers: { "Idempotency-Key": "a key" } });
    expect((await repeated()).headers["character-cost"]).to.equal("5");
    expect((await repeated()).headers["character-cost"]).to.equal("0");
    const other = await post({ input: "Twice." }, { caller, headers: { "Idempotency-Key": "a key" } });
    expect(other.status).to.equal(400);
    expect(await chargedTo(caller)).to.equal(5);
  });

  it("sends events with base64 and the usage if asked to", async () => {
    const { headers, text } = await post({ stream_format: "sse", input: "Events." });
    expect(headers["content-type"]).to.equal("text/event-stream; charset=utf-8");
    const events = text
      .split("\n\n")
      .filter((event) => event !== "" && !event.startsWith(":"))
      .map((event) => JSON.parse(event.replace(/^data: /, "")));
    const done = events.pop();
    const usage = { input_tokens: 7, output_tokens: 0, total_tokens: 7 };
    expect(done).to.deep.equal({ type: "speech.audio.done", usage });
    expect(new Set(events.map(({ type }) => type))).to.deep.equal(new Set(["speech.audio.delta"]));
    const audio = Buffer.concat(events.map((event) => Buffer.from(event.audio, "base64")));
    expect(audio.toString()).to.equal((await post({ input: "Events." })).text);
  });

  it("responds to an exhausted quota with 429 that forbids a retry, and a suspended key with 403", async () => {
    const poor = await registerWebsite(service.url, { monthlyCharacters: 8 });
    expect((await post({ input: "Hello." }, { caller: poor })).status).to.equal(200);
    for (const input of ["Hello.", "Hi."]) {
      const refused = await post({ input }, { caller: poor });
      expect(refused.status).to.equal(429);
      expect(refused.headers).to.include({ "x-should-retry": "false" });
      expect(errorIn(refused)).to.include({ type: "insufficient_quota", code: "insufficient_quota" });
    }
    expect(await chargedTo(poor)).to.equal(6);
    const suspended = await registerWebsite(service.url);
    await admin(service.url, "POST", `/keys/${suspended.apiKey}/suspend`, { reason: "abuse" });
    const refused = await post({}, { caller: suspended });
    expect(refused.status).to.equal(403);
    expect(errorIn(refused)).to.include({ code: "key_suspended" });
  });

  it("responds with every refusal in OpenAI's envelope: unknown paths, methods, bodies, credentials, limits", async () => {
    const authorization = { Authorization: `Bearer ${website.apiKey}.${website.apiSecret}` };
    const json = { "Content-Type": "application/json" };
    const busy = await registerWebsite(service.url, { requestsPerMinute: 1 });
    await post({}, { caller: busy });
    const refusals: [number, string, ReceivedResponse][] = [
      [404, "not_found", await ask(`${service.url}/openai/v1/chat/completions`, { headers: authorization })],
      [405, "method_not_allowed", await ask(service.url + url, { headers: authorization })],
      [401, "invalid_api_key", await ask(service.url + url, { method: "POST", headers: json, body: "{}" })],
      [401, "invalid_api_key", await post({}, { headers: { Authorization: "Bearer sk-guessed" } })],
      [413, "payload_too_large", await post({ input: "x".repeat(1_100_000) })],
      [429, "rate_limit_exceeded", await post({}, { caller: busy })],
    ];
    for (const [status, code, response] of refusals) {
      expect(response.status).to.equal(status);
      expect(Object.keys(errorIn(response))).to.deep.equal(["message", "type", "param", "code"]);
      expect(errorIn(response)).to.include({ code });
    }
  });
});
