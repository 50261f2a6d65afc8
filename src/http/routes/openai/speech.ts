import type { Websites } from "../../../application/accounts/websites.ts";
import type { Voices } from "../../../application/catalog/voices.ts";
import type { Synthesis } from "../../../application/synthesis/delivery.ts";
import { NotFound } from "../../../domain/errors.ts";
import type { TextFormat } from "../../../domain/synthesis/speech.ts";
import { detectLanguage } from "../../../domain/text/detection/detect-language.ts";
import { noStore } from "../../caching/cache-control.ts";
import { contentOf } from "../../kernel/audio-response.ts";
import {
  cached,
  characterCost,
  type HeaderNames,
  prosodyApplied,
  speedApplied,
  unbuffered,
} from "../../kernel/headers.ts";
import { jsonRequest, type Operation, operation } from "../../kernel/operation.ts";
import { websiteOf } from "../../kernel/request-state.ts";
import { idempotencyHeader, requestContextOf } from "../synthesis/request-context.ts";
import { type ChunkedAudio, plainAudio, type StreamBody, type StreamResponse } from "../synthesis/stream.ts";
import { speechEvents } from "./speech-events.ts";
import {
  appliedSpeed,
  type ChosenVoice,
  engineOfModel,
  type ModelMap,
  requestedVoice,
  responseFormats,
  type SpeechRequest,
  speechRequest,
  toSynthesisRequest,
} from "./speech-request.ts";
import { defaultVoice, type VoiceMap, voiceMapOf } from "./voice-map.ts";

interface OpenAiSpeechOptions {
  readonly synthesis: Pick<Synthesis, "plan" | "idempotencyOf">;
  readonly voices: Pick<Voices, "isNamed" | "speaks">;
  readonly websites: Pick<Websites, "textFormatOf">;
  readonly streamResponse: StreamResponse;
  readonly names: HeaderNames;
  readonly settings: {
    readonly maxTextCharacters: number;
    readonly openAiVoices: Readonly<Record<string, string>>;
    readonly openAiModels: ModelMap;
  };
}

/** `POST /openai/v1/audio/speech`. */
export const openAiSpeechOperation = (options: OpenAiSpeechOptions): Operation => {
  const { synthesis, voices, websites, streamResponse, names, settings } = options;
  const voiceMap = voiceMapOf(settings.openAiVoices);
  const models = settings.openAiModels;
  return operation({
    method: "post",
    path: "/openai/v1/audio/speech",
    id: "openAiSpeech",
    tag: "OpenAI",
    summary: "Synthesize a text as OpenAI's speech API does",
    description:
      "`character-cost` is what the request is charged. The response begins before the audio is complete, for every voice, except in `wav` and `flac`, whose header has its length. With `stream_format: sse` it begins early in every format, and consists of server-sent events: `speech.audio.delta` {type, audio (base64)}, then `speech.audio.done` {type, usage} with the charged characters as `input_tokens`, or `error` {type, error}.",
    auth: "website",
    headers: idempotencyHeader,
    cache: [noStore],
    body: jsonRequest(speechRequest(settings.maxTextCharacters), {
      model: "tts-1",
      voice: "alloy",
      input: "The train to Oxford leaves at nine.",
    }),
    responses: {
      200: {
        description: "The audio, or events with the audio.",
        headers: {
          ...characterCost,
          ...speedApplied(names),
          ...prosodyApplied(names),
          ...cached(names),
          ...unbuffered,
        },
        content: { ...contentOf(responseFormats), "text/event-stream": { example: eventsExample } },
      },
    },
    errors: [404, 502, 503],
    handle: async ({ body }, ctx) => {
      const websiteId = websiteOf(ctx);
      const textFormat = body.text_format ?? websites.textFormatOf(websiteId);
      const voice = chooseVoice(body, { voices, voiceMap, models, websiteId, textFormat });
      const request = toSynthesisRequest(body, voice, textFormat);
      const plan = synthesis.plan(request, websiteId);
      const context = requestContextOf(ctx, request, synthesis);
      await streamResponse(ctx, plan, { ...context, body: streamBody(body, names) });
    },
  });
};

interface VoiceChoice {
  readonly voices: OpenAiSpeechOptions["voices"];
  readonly voiceMap: VoiceMap;
  readonly models: ModelMap;
  readonly websiteId: string;
  readonly textFormat: TextFormat | undefined;
}

/**
 * Chooses a voice of the website's catalog, or else the voice to which the name is mapped. If that
 * voice is a default one and the text has another language, a voice of the text's language and the
 * same gender replaces it.
 * @throws {NotFound}
 */
const chooseVoice = (request: SpeechRequest, choice: VoiceChoice): ChosenVoice => {
  const { voices, voiceMap, models, websiteId, textFormat } = choice;
  const name = requestedVoice(request) ?? voiceNamedByModel(request, choice) ?? defaultVoice;
  const engine = engineOfModel(request.model, models);
  const mapped = voiceMap.find(name);
  if (!mapped || voices.isNamed(websiteId, name, engine)) return { name, engine };
  const lang = mapped.gender && detectLanguage(request.input, textFormat);
  if (lang !== undefined && voices.speaks(websiteId, lang, engine)) {
    return { lang, gender: mapped.gender, engine };
  }
  if (voices.isNamed(websiteId, mapped.name)) return { name: mapped.name, engine };
  throw new NotFound(
    `The voice ${JSON.stringify(name)} stands for ${JSON.stringify(mapped.name)}, which does not exist.`,
    "voice",
  );
};

/** Some clients send the voice as the model, as LocalAI expects it. */
const voiceNamedByModel = (
  { model }: SpeechRequest,
  { voices, voiceMap, websiteId }: VoiceChoice,
): string | undefined => (voiceMap.find(model) || voices.isNamed(websiteId, model) ? model : undefined);

const streamBody = (request: SpeechRequest, names: HeaderNames): StreamBody => {
  const headers = ({ characters, prosodyApplied }: ChunkedAudio): Record<string, string> => ({
    "character-cost": String(characters),
    [names.speedApplied]: String(prosodyApplied.includes("rate") ? appliedSpeed(request) : 1),
  });
  return request.stream_format === "sse"
    ? { kind: "sse", isStream: true, headers, chunks: speechEvents }
    : plainAudio(headers);
};

/**
 * This content has an example but no schema: a schema describes a body as a whole, and each event
 * would need its own.
 */
const eventsExample = [
  'data: {"type":"speech.audio.delta","audio":"//NkxAAAAA=="}\n\n',
  'data: {"type":"speech.audio.done","usage":{"input_tokens":35,"output_tokens":0,"total_tokens":35}}\n\n',
].join("");
