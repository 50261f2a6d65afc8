import { createOpenAI } from "@ai-sdk/openai";
import { APICallError, generateSpeech } from "ai";
import { expect } from "chai";
import OpenAI from "openai";
import { Stream } from "openai/streaming";
import { measureAudio } from "../../src/audio/formats/containers.ts";
import { admin, type Credentials, registerWebsite } from "../support/client.ts";
import { duringSuite } from "../support/during.ts";
import { startInProcessService } from "../support/in-process-service.ts";
import { rejection } from "../support/rejection.ts";
import { recordedEvents } from "../support/streams.ts";
import { closedGate } from "../support/wire/gate.ts";
import { goodCredentials, serveProviders } from "../support/wire/providers.ts";

interface SpeechEvent {
  readonly type: string;
  readonly audio?: string;
  readonly usage?: object;
}

/** OpenAI's client and the AI SDK, unmodified, over real connections. */
describe("clients of OpenAI's API", () => {
  const providers = duringSuite(serveProviders);
  const service = duringSuite(() => startInProcessService({ ...providers.env, BURST_LIMIT: "1000000" }));
  const website = duringSuite(() => registerWebsite(service.url));
  /** A website with credentials of a provider. */
  const paying = duringSuite(() => registerWebsite(service.url));

  before(async () => {
    await admin(service.url, "PUT", `/websites/${paying.id}/credentials/oai`, goodCredentials.oai);
  });

  const optionsFor = ({ apiKey, apiSecret }: Credentials) => ({
    baseURL: `${service.url}/openai/v1`,
    apiKey: `${apiKey}.${apiSecret}`,
  });
  const clientFor = (caller = website, options: object = {}) =>
    new OpenAI({ ...optionsFor(caller), ...options });
  const chargedTo = async ({ apiKey }: Credentials): Promise<unknown> =>
    (await admin(service.url, "GET", `/keys/${apiKey}/usage`)).body.characters;
  /** Counts the requests that a client makes. */
  const counting = () => {
    const counted = { requests: 0, fetch: (...given: Parameters<typeof fetch>) => send(given) };
    const send = (given: Parameters<typeof fetch>) => {
      counted.requests++;
      return fetch(...given);
    };
    return counted;
  };
  const hello = { model: "tts-1", voice: "alloy", input: "Hello from a client." };

  describe("such as npm's openai", () => {
    it("receive speech in every format", async () => {
      for (const response_format of ["mp3", "opus", "aac", "flac", "wav", "pcm"] as const) {
        const speech = await clientFor().audio.speech.create({ ...hello, response_format });
        const bytes = Buffer.from(await speech.arrayBuffer());
        const sound = measureAudio(response_format, bytes);
        expect((sound?.samples ?? 0) / (sound?.sampleRate ?? 1), response_format).to.be.within(0.5, 5);
        expect(speech.headers.get("character-cost")).to.equal("20");
      }
    });

    it("receive the first bytes before the last exist", async () => {
      const gate = closedGate();
      providers.oai.faults.next({ kind: "trickle", gate });
      gate.step();
      const speech = await clientFor(paying).audio.speech.create({
        ...hello,
        model: "oai",
        input: "A paused text.",
      });
      const reader = speech.body?.getReader();
      expect((await reader?.read())?.value?.length).to.be.above(0);
      gate.open();
      while (!(await reader?.read())?.done);
    });

    it("receive a long text of a local voice while it is spoken", async () => {
      const caller = await registerWebsite(service.url);
      const input = "The service does not wait for the end of this text. ".repeat(96);
      const long = { ...hello, voice: "fable", input, response_format: "pcm" } as const;
      const speech = await clientFor(caller).audio.speech.create(long);
      const reader = speech.body?.getReader();
      let bytes = (await reader?.read())?.value?.length ?? 0;
      // More than 10 MB do not fit into the buffers of the connection, so the response cannot be
      // complete.
      expect(await recordedEvents(service.url, caller, "StreamEnded")).to.deep.equal([]);
      for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
        bytes += read.value.length;
      }
      expect(bytes).to.be.above(10_000_000);
      expect(await chargedTo(caller)).to.equal(input.length);
    });

    /**
     * The events as the client reads those of other operations; it has no method for those of
     * speech.
     */
    const eventsIn = async (speech: Response): Promise<SpeechEvent[]> => {
      const events: SpeechEvent[] = [];
      const stream = Stream.fromSSEResponse<SpeechEvent>(speech, new AbortController());
      for await (const event of stream) events.push(event);
      return events;
    };

    it("receive events", async () => {
      const events = await eventsIn(
        await clientFor().audio.speech.create({ ...hello, stream_format: "sse" }),
      );
      expect(new Set(events.map(({ type }) => type))).to.deep.equal(
        new Set(["speech.audio.delta", "speech.audio.done"]),
      );
      expect(events.at(-1)?.usage).to.deep.equal({ input_tokens: 20, output_tokens: 0, total_tokens: 20 });
      const audio = Buffer.concat(events.map((event) => Buffer.from(event.audio ?? "", "base64")));
      expect(measureAudio("mp3", audio)?.samples).to.be.above(1_000);
    });

    it("throw if the stream is interrupted, as bytes and as events", async () => {
      const create = (stream_format: "audio" | "sse") => {
        providers.oai.faults.next({ kind: "cut" });
        const input = `Interrupted as ${stream_format}.`;
        return clientFor(paying).audio.speech.create({ ...hello, model: "oai", input, stream_format });
      };
      const bytes = await create("audio");
      expect(await rejection(bytes.arrayBuffer())).to.be.instanceOf(Error);
      const events = await create("sse");
      const error = await rejection(eventsIn(events));
      expect(error).to.be.instanceOf(OpenAI.APIError).and.to.include({ type: "server_error" });
    });

    it("list models, and show one", async () => {
      const models: OpenAI.Model[] = [];
      for await (const model of clientFor(paying).models.list()) models.push(model);
      expect(models.map(({ id }) => id)).to.include.members(["tts-1", "g1", "oai"]);
      expect(await clientFor().models.retrieve("tts-1")).to.include({ id: "tts-1", object: "model" });
    });

    it("receive speech of any model, and in the language of the text", async () => {
      const caller = await registerWebsite(service.url);
      const voice = "Alloy";
      for (const [model, input] of [
        ["tts-1-1106", "你好，世界"],
        ["kokoro", "Guten Morgen, wie geht es dir?"],
        ["gpt-audio", "Good morning."],
      ] as const) {
        await clientFor(caller).audio.speech.create({ model, voice, input });
      }
      const servings = await recordedEvents(service.url, caller, "SynthesisServed");
      expect(servings.map(({ lang }) => lang)).to.deep.equal(["zh-CN", "de-DE", "en-US"]);
    });

    it("throw the classes of errors that they throw for OpenAI", async () => {
      const { apiKey } = website;
      const stranger = clientFor({ ...website, apiSecret: "wrong" });
      const suspended = await registerWebsite(service.url);
      await admin(service.url, "POST", `/keys/${suspended.apiKey}/suspend`, { reason: "abuse" });
      const create = (client: OpenAI, changes: object = {}) =>
        rejection(client.audio.speech.create({ ...hello, ...changes }));
      for (const [error, type, code] of [
        [await create(stranger), OpenAI.AuthenticationError, "invalid_api_key"],
        [await create(clientFor(suspended)), OpenAI.PermissionDeniedError, "key_suspended"],
        [await create(clientFor(), { model: "gwn" }), OpenAI.NotFoundError, "model_not_found"],
        [await create(clientFor(), { voice: "Nobody" }), OpenAI.BadRequestError, "invalid_value"],
        [await create(clientFor(), { input: "" }), OpenAI.BadRequestError, "invalid_value"],
      ] as const) {
        expect(error).to.be.instanceOf(type).and.to.include({ code });
        expect((error as InstanceType<typeof OpenAI.APIError>).requestID).to.match(/^[0-9a-f-]{36}$/);
        expect((error as Error).message).to.not.include(apiKey);
      }
    });

    it("retry a refusal by the rate limit after Retry-After, and are charged once", async () => {
      const busy = await registerWebsite(service.url, { requestsPerMinute: 1 });
      service.time.now += 60_000 - (service.time.now % 60_000) + 58_000;
      await clientFor(busy).audio.speech.create(hello);
      const statuses: number[] = [];
      const retrying = clientFor(busy, {
        fetch: async (...given: Parameters<typeof fetch>) => {
          const response = await fetch(...given);
          statuses.push(response.status);
          expect(response.headers.get("retry-after")).to.equal(response.status === 429 ? "2" : null);
          service.time.now += 2_000;
          return response;
        },
      });
      const askedAt = performance.now();
      await retrying.audio.speech.create(hello);
      expect(statuses).to.deep.equal([429, 200]);
      expect(performance.now() - askedAt, "waits for as long as Retry-After says").to.be.above(1_900);
      expect(await chargedTo(busy)).to.equal(40);
    });

    it("do not retry when the quota is exhausted", async () => {
      const poor = await registerWebsite(service.url, { monthlyCharacters: 10 });
      const counted = counting();
      const error = await rejection(clientFor(poor, { fetch: counted.fetch }).audio.speech.create(hello));
      expect(error).to.be.instanceOf(OpenAI.RateLimitError).and.to.include({ code: "insufficient_quota" });
      expect(counted.requests).to.equal(1);
      expect(await chargedTo(poor)).to.equal(0);
    });

    it("retry a failure of the provider, and are charged once", async () => {
      const before = await chargedTo(paying);
      providers.oai.faults.always({ kind: "refusal", status: 500 });
      const statuses: number[] = [];
      const retrying = clientFor(paying, {
        fetch: async (...given: Parameters<typeof fetch>) => {
          const response = await fetch(...given);
          statuses.push(response.status);
          providers.oai.faults.none();
          return response;
        },
      });
      await retrying.audio.speech.create({ ...hello, model: "oai", input: "Spoken on retry." });
      expect(statuses).to.deep.equal([502, 200]);
      expect(await chargedTo(paying)).to.equal(Number(before) + 16);
    });
  });

  describe("such as the AI SDK", () => {
    const speechModel = (caller = website, model = "tts-1") => createOpenAI(optionsFor(caller)).speech(model);

    it("receive speech in every format, also with the default voice", async () => {
      for (const outputFormat of ["mp3", "opus", "aac", "flac", "wav", "pcm"] as const) {
        const { audio, warnings } = await generateSpeech({
          model: speechModel(),
          text: "Hello from the AI SDK.",
          outputFormat,
        });
        expect(measureAudio(outputFormat, Buffer.from(audio.uint8Array))?.samples).to.be.above(1_000);
        expect(warnings).to.deep.equal([]);
      }
    });

    it("throw its errors with OpenAI's message, and do not repeat what cannot succeed", async () => {
      const poor = await registerWebsite(service.url, { monthlyCharacters: 10 });
      const failing = (model: ReturnType<typeof speechModel>) =>
        rejection(generateSpeech({ model, text: "Hello from the AI SDK.", maxRetries: 0 }));
      const unknown = await failing(speechModel(website, "gwn"));
      expect(unknown).to.be.instanceOf(APICallError).and.to.include({ statusCode: 404, isRetryable: false });
      expect((unknown as Error).message).to.match(/no provider for the engine gwn/);
      expect(await failing(speechModel(poor))).to.include({ statusCode: 429 });
      expect(await failing(speechModel({ ...website, apiSecret: "wrong" }))).to.include({ statusCode: 401 });
    });
  });
});
