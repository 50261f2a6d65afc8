import { expect } from "chai";
import { measureAudio } from "../../src/audio/formats/containers.ts";
import { registerWebsite } from "../support/client.ts";
import { duringSuite } from "../support/during.ts";
import { startInProcessService } from "../support/in-process-service.ts";
import {
  type AudioResult,
  type ClientCall,
  errorOf,
  type Outcome,
  pythonClient,
  resultOf,
} from "../support/python-client.ts";
import { recordedEvents } from "../support/streams.ts";

/** What the client reads from OpenAI's errors. */
interface Refusal {
  readonly message: string;
  readonly code: string;
}

const formats = ["mp3", "opus", "aac", "flac", "wav", "pcm"] as const;
const hello = { model: "tts-1", voice: "alloy", input: "Hello from Python." };

/** OpenAI's own client for Python, unmodified, with the service's base URL. */
describe("OpenAI's client for Python", () => {
  const service = duringSuite(() => startInProcessService({ BURST_LIMIT: "1000000" }));
  const website = duringSuite(() => registerWebsite(service.url));
  let client: ReturnType<typeof pythonClient<Refusal>>;

  before(async () => {
    client = pythonClient("openai", `${service.url}/openai/v1`);
  });
  after(async () => {
    await client.close();
  });

  const outcomes = <Result>(calls: readonly ClientCall[], as = website) => client.outcomes<Result>(calls, as);
  const refusalIn = (outcome: Outcome<unknown, Refusal> | undefined) => {
    const { type, status, body } = errorOf(outcome);
    return { type, status, code: body.code };
  };

  it("gets and streams speech in every format, the same bytes by both, and is charged for each", async () => {
    const own = await registerWebsite(service.url);
    const calls = formats.flatMap((response_format) => {
      const args = { ...hello, response_format };
      return [
        { method: "audio.speech.create", args },
        { method: "audio.speech.with_streaming_response.create", args },
      ];
    });
    const sounds = (await outcomes<AudioResult>(calls, own)).map((outcome) =>
      Buffer.from(resultOf(outcome).audio, "base64"),
    );
    for (const [index, format] of formats.entries()) {
      const [whole, streamed] = sounds.slice(2 * index) as [Buffer, Buffer];
      expect(streamed.equals(whole), format).to.equal(true);
      const length = measureAudio(format, whole);
      expect((length?.samples ?? 0) / (length?.sampleRate ?? 1), format).to.be.within(0.5, 5);
    }
    const servings = await recordedEvents(service.url, own, "SynthesisServed");
    expect(servings.map(({ characters }) => characters)).to.deep.equal(calls.map(() => hello.input.length));
  });

  it("gets speech as events", async () => {
    const args = { ...hello, stream_format: "sse" };
    const [outcome] = await outcomes<AudioResult>([{ method: "audio.speech.create", args }]);
    const events = Buffer.from(resultOf(outcome).audio, "base64").toString();
    expect(events).to.match(/^data: \{"type":"speech.audio.delta"/);
    expect(events).to.contain(`"total_tokens":${hello.input.length}`);
  });

  it("lists models", async () => {
    const [list, one] = await outcomes<{ id: string; data: { id: string }[] }>([
      { method: "models.list" },
      { method: "models.retrieve", args: { model: "tts-1" } },
    ]);
    expect(resultOf(list).data.map(({ id }) => id)).to.include.members(["tts-1", "g1"]);
    expect(resultOf(one)).to.include({ id: "tts-1" });
  });

  it("gets speech of any model, and in the language of the text", async () => {
    const own = await registerWebsite(service.url);
    const method = "audio.speech.create";
    const calls = [
      { method, args: { model: "tts-1-hd-1106", voice: "Nova", input: "你好，世界" } },
      { method, args: { model: "piper", voice: "onyx", input: "Où est la gare ?" } },
    ];
    for (const outcome of await outcomes<AudioResult>(calls, own)) resultOf(outcome);
    const servings = await recordedEvents(service.url, own, "SynthesisServed");
    expect(servings.map(({ lang }) => lang)).to.deep.equal(["zh-CN", "fr-FR"]);
  });

  it("raises the errors that it raises for OpenAI", async () => {
    const method = "audio.speech.create";
    const refusals = await outcomes([
      { method, args: { ...hello, voice: "Nobody" } },
      { method, args: { ...hello, model: "gwn" } },
      { method, args: { ...hello, input: "" } },
    ]);
    expect(refusals.map(refusalIn)).to.deep.equal([
      { type: "BadRequestError", status: 400, code: "invalid_value" },
      { type: "NotFoundError", status: 404, code: "model_not_found" },
      { type: "BadRequestError", status: 400, code: "invalid_value" },
    ]);
    const call = [{ method, args: hello }];
    const [unknown] = await outcomes(call, { ...website, apiSecret: "wrong" });
    expect(refusalIn(unknown)).to.deep.equal({
      type: "AuthenticationError",
      status: 401,
      code: "invalid_api_key",
    });
    const poor = await registerWebsite(service.url, { monthlyCharacters: 10 });
    const [exhausted] = await outcomes(call, poor);
    expect(refusalIn(exhausted)).to.deep.equal({
      type: "RateLimitError",
      status: 429,
      code: "insufficient_quota",
    });
    expect(await recordedEvents(service.url, poor, "SynthesisServed")).to.deep.equal([]);
  });
});
