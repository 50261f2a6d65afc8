import { z } from "zod";
import type { WireResponse } from "./faults.ts";
import { makeSound, type SoundFormat } from "./made-sound.ts";
import type { OtherServer } from "./other-servers.ts";
import {
  json,
  Refused,
  refusing,
  type SeenRequest,
  serveWire,
  soundless,
  type WireServer,
  type WireServerOptions,
} from "./wire-server.ts";

export interface OpenAiWireOptions extends WireServerOptions {
  /** `undefined` accepts every caller, as self-hosted servers do. */
  readonly apiKey?: string | undefined;
  readonly models?: readonly string[];
  /** Default: OpenAI's own. */
  readonly voices?: readonly string[];
  /** True if `GET /v1/audio/voices` exists, as in Kokoro-FastAPI. */
  readonly listsVoices?: boolean;
  /** True if `POST /dev/captioned_speech` exists, as in Kokoro-FastAPI. */
  readonly captions?: boolean;
  /** How it speaks. Default: as OpenAI does, in the requested format. */
  readonly speak?: OtherServer["speak"];
}

export const openAiApiKey = "sk-test-key-of-nobody";
export const openAiModels = ["gpt-4o-mini-tts", "tts-1", "tts-1-hd"] as const;
export const openAiVoices =
  "alloy ash ballad coral echo fable onyx nova sage shimmer verse marin cedar".split(" ");

/** An OpenAI-compatible speech server; its base URL excludes `/v1`. */
export const serveOpenAi = (given: OpenAiWireOptions = {}): Promise<WireServer> => {
  const {
    models = openAiModels,
    voices = openAiVoices,
    listsVoices = false,
    captions = false,
    speak: speakOtherwise,
    ...options
  } = given;
  const apiKey = "apiKey" in given ? given.apiKey : openAiApiKey;
  return serveWire(
    refusing({
      response: async (request) => {
        authorize(request, apiKey);
        const requestLine = `${request.method} ${request.path}`;
        if (requestLine === "POST /v1/audio/speech")
          return speak(request, { models, voices, speakOtherwise });
        if (requestLine === "POST /dev/captioned_speech" && captions)
          return speakCaptioned(request, { models, voices });
        if (requestLine === "GET /v1/models") return listModels(models);
        if (requestLine === "GET /v1/audio/voices" && listsVoices) return json(200, { voices });
        throw new Refused(refusal(404, `Invalid URL (${requestLine})`));
      },
      refusal,
      ...soundless,
    }),
    options,
  );
};

/** The error repeats the key, as OpenAI's does in part: it must not be passed on. */
const authorize = ({ headers }: SeenRequest, apiKey: string | undefined) => {
  if (apiKey === undefined || headers.authorization === `Bearer ${apiKey}`) return;
  const given = headers.authorization?.replace(/^Bearer /, "") ?? "";
  const message = given
    ? `Incorrect API key provided: ${given}.`
    : "You didn't provide an API key. You need to provide your API key in an Authorization header.";
  throw new Refused(refusal(401, message, { code: "invalid_api_key" }));
};

const formats: Readonly<Record<string, [SoundFormat, string]>> = {
  mp3: [{ kind: "mp3", sampleRate: 24_000, kbitPerSecond: 64 }, "audio/mpeg"],
  opus: [{ kind: "opus", sampleRate: 24_000, kbitPerSecond: 32 }, "audio/opus"],
  aac: [{ kind: "aac", sampleRate: 24_000 }, "audio/aac"],
  flac: [{ kind: "flac", sampleRate: 24_000 }, "audio/flac"],
  wav: [{ kind: "streamed wav", sampleRate: 24_000 }, "audio/wav"],
  pcm: [{ kind: "pcm", sampleRate: 24_000 }, "audio/pcm"],
};

const body = z.strictObject({
  model: z.string(),
  input: z.string().min(1).max(4096),
  voice: z.string(),
  instructions: z.string().optional(),
  response_format: z.enum(["mp3", "opus", "aac", "flac", "wav", "pcm"]).default("mp3"),
  speed: z.number().min(0.25).max(4).default(1),
  stream: z.boolean().optional(),
  stream_format: z.enum(["audio", "sse"]).optional(),
});

interface Offer {
  readonly models: readonly string[];
  readonly voices: readonly string[];
  readonly speakOtherwise?: OtherServer["speak"] | undefined;
}

const speak = async (
  request: SeenRequest,
  { models, voices, speakOtherwise }: Offer,
): Promise<WireResponse> => {
  const { model, input, voice, response_format, speed } = parsed(request);
  if (!models.includes(model)) {
    throw new Refused(
      refusal(404, `The model '${model}' does not exist.`, { param: "model", code: "model_not_found" }),
    );
  }
  const at = voices.indexOf(voice);
  if (at < 0)
    throw new Refused(refusal(400, `Input should be one of ${voices.join(", ")}.`, { param: "voice" }));
  const speaker = `gmw/en-US+${speakers[at % 13]}`;
  if (speakOtherwise) return speakOtherwise({ text: input, voice: speaker, format: response_format });
  const [format, type] = formats[response_format] ?? [];
  if (!format || !type) throw new Error(`no such format: ${response_format}`);
  const sound = await makeSound({
    text: input,
    voice: speaker,
    rate: speed,
    format,
  });
  return { status: 200, headers: { "Content-Type": type }, body: sound };
};

const captionedParts = 3;

/**
 * Lines as Kokoro-FastAPI streams them: samples, and words with their times from the start of the
 * response. Words are spread evenly here, and a number is spoken as another word than the written
 * one.
 */
const speakCaptioned = async (request: SeenRequest, offer: Offer): Promise<WireResponse> => {
  const response = await speak(request, offer);
  const sound = response.body as Buffer;
  const words = parsed(request).input.match(/[\p{L}\p{N}'’]+|[^\s\p{L}\p{N}]/gu) ?? [];
  const seconds = sound.length / 2 / 24_000;
  const timed = words.map((word, index) => ({
    word: /^\d+$/.test(word) ? "number" : word,
    start_time: (seconds * index) / words.length,
    end_time: (seconds * (index + 1)) / words.length,
  }));
  const lines = Array.from({ length: captionedParts }, (_, part) => {
    const partOf = <T>(all: { slice(from: number, to: number): T; length: number }, unit: number): T => {
      const at = (index: number) => unit * Math.floor((index * all.length) / unit / captionedParts);
      return all.slice(at(part), part === captionedParts - 1 ? all.length : at(part + 1));
    };
    const audio = (partOf(sound, 2) as Buffer).toString("base64");
    return `${JSON.stringify({ audio, audio_format: "audio/pcm", timestamps: partOf(timed, 1) })}\n`;
  });
  return { status: 200, headers: { "Content-Type": "application/json" }, body: Buffer.from(lines.join("")) };
};

/** As many voices as OpenAI has; no two sound alike. */
const speakers = "f1 m1 m2 f2 m3 f3 m4 f4 m5 f5 m6 m7 m8".split(" ");

const parsed = ({ headers, body: bytes }: SeenRequest): z.output<typeof body> => {
  if (!/^application\/json\b/.test(headers["content-type"] ?? "")) {
    throw new Refused(refusal(400, "The Content-Type must be application/json."));
  }
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString());
  } catch {
    throw new Refused(refusal(400, "We could not parse the JSON body of your request."));
  }
  const { data, error } = body.safeParse(value);
  if (data) return data;
  const [issue] = error.issues;
  const param = issue?.path.join(".") || null;
  const code = issue?.code === "too_big" && param === "input" ? "string_above_max_length" : null;
  const unknown = issue?.code === "unrecognized_keys" ? `Unrecognized request argument: ${issue.keys}` : null;
  throw new Refused(refusal(400, unknown ?? `Invalid '${param}': ${issue?.message}`, { param, code }));
};

const listModels = (models: readonly string[]): WireResponse =>
  json(200, {
    object: "list",
    data: models.map((id) => ({ id, object: "model", created: 1_700_000_000, owned_by: "system" })),
  });

const types: Readonly<Record<number, string>> = { 429: "requests", 500: "server_error", 503: "server_error" };

const refusal = (
  status: number,
  message = "Something is wrong at the speech server's.",
  { param = null, code = null }: { param?: string | null; code?: string | null } = {},
): WireResponse =>
  json(status, { error: { message, type: types[status] ?? "invalid_request_error", param, code } });
