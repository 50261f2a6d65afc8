import { Readable } from "node:stream";
import type { Context } from "koa";
import type { Websites } from "../../../application/accounts/websites.ts";
import type { Voices } from "../../../application/catalog/voices.ts";
import type { Audio, Synthesis } from "../../../application/synthesis/delivery.ts";
import type { SynthesisPlan, SynthesisRequest } from "../../../application/synthesis/planner.ts";
import { Invalid } from "../../../domain/errors.ts";
import { countCharacters } from "../../../domain/synthesis/count-characters.ts";
import { formats } from "../../../domain/synthesis/formats.ts";
import { formatProsodyParameters } from "../../../domain/synthesis/prosody.ts";
import { noStore } from "../../caching/cache-control.ts";
import { audioContent, durationHeader } from "../../kernel/audio-response.ts";
import {
  audioDuration,
  cached,
  characterCost,
  type HeaderNames,
  namedRequestId,
  prosodyApplied,
  unbuffered,
} from "../../kernel/headers.ts";
import {
  json,
  jsonRequest,
  type Operation,
  type OperationSpec,
  operation,
  pathParams,
  queryParams,
  type ResponseSpec,
} from "../../kernel/operation.ts";
import { websiteOf } from "../../kernel/request-state.ts";
import type { GetAudio } from "../audio.ts";
import { idempotencyHeader, requestContextOf } from "../synthesis/request-context.ts";
import { plainAudio, type StreamBody, type StreamResponse } from "../synthesis/stream.ts";
import { engineOfModel } from "./models.ts";
import { contentOf, speechQuery, speechRequest, toSynthesisRequest } from "./speech-request.ts";
import type { SsmlContent } from "./ssml-content.ts";
import { alignmentOf, TimedAudio, timedJson, timedLines } from "./timed-audio.ts";
import { requestedVoiceName, voiceId } from "./voice-id.ts";

interface SpeechOptions {
  readonly voices: Pick<Voices, "isNamed">;
  readonly websites: Pick<Websites, "textFormatOf">;
  readonly synthesis: Synthesis;
  readonly streamResponse: StreamResponse;
  readonly getAudio: GetAudio;
  readonly names: HeaderNames;
  readonly settings: { readonly maxTextCharacters: number };
}

/** A request whose voice was found. */
interface Planned {
  readonly plan: SynthesisPlan;
  readonly context: ReturnType<typeof requestContextOf>;
  readonly content: SsmlContent | undefined;
}

const path = "/elevenlabs/v1/text-to-speech/{voice_id}";

export const elevenLabsSpeechOperations = (given: SpeechOptions): Operation[] => {
  const options = { ...given, schema: speechRequest(given.settings.maxTextCharacters) };
  return [
    speechOperation(options, {
      path,
      id: "elevenLabsSpeech",
      summary: "Synthesize a text as ElevenLabs' API does",
      response: { description: "The audio.", content: audioContent, headers: audioDuration },
      handle: convert,
    }),
    speechOperation(options, {
      path: `${path}/stream`,
      id: "elevenLabsSpeechStream",
      summary:
        "Synthesize a text, and send the audio while it is synthesized, unless its header has its length (wav)",
      response: { description: "The audio.", content: audioContent, headers: unbuffered },
      handle: stream,
    }),
    speechOperation(options, {
      path: `${path}/with-timestamps`,
      id: "elevenLabsTimedSpeech",
      summary: "Synthesize a text, with the time of each character",
      response: { description: "The audio and the times.", content: json(TimedAudio) },
      handle: convertWithTimestamps,
    }),
    speechOperation(options, {
      path: `${path}/stream/with-timestamps`,
      id: "elevenLabsTimedSpeechStream",
      summary:
        "Synthesize a text, send the audio while it is synthesized, and then the time of each character",
      response: {
        description:
          "One JSON object per line. The times follow the audio in the last line, because they are known when it is complete.",
        headers: unbuffered,
        content: { "application/x-ndjson": { schema: TimedAudio } },
      },
      handle: streamWithTimestamps,
    }),
  ];
};

interface Speech extends Pick<OperationSpec, "path" | "id" | "summary"> {
  readonly response: ResponseSpec;
  readonly handle: (options: SpeechOptions, ctx: Context, planned: Planned) => Promise<void>;
}

const speechOperation = (
  options: SpeechOptions & { readonly schema: ReturnType<typeof speechRequest> },
  { response, handle, ...spec }: Speech,
): Operation => {
  const { names, schema, synthesis, voices, websites } = options;
  return operation({
    ...spec,
    method: "post",
    tag: "ElevenLabs",
    auth: "website",
    cache: [noStore],
    headers: idempotencyHeader,
    params: pathParams({ voice_id: voiceId }),
    query: queryParams(speechQuery),
    body: jsonRequest(schema, {
      text: "The train to Oxford leaves at nine.",
      model_id: "eleven_multilingual_v2",
    }),
    responses: {
      200: {
        ...response,
        headers: {
          ...response.headers,
          ...characterCost,
          ...namedRequestId,
          ...prosodyApplied(names),
          ...cached(names),
        },
      },
    },
    errors: [404, 502, 503],
    handle: async ({ params, query, body: sent }, ctx) => {
      const websiteId = websiteOf(ctx);
      const body = { ...sent, text_format: sent.text_format ?? websites.textFormatOf(websiteId) };
      const engine = engineOfModel(body.model_id);
      const voice = requestedVoiceName(params.voice_id, (name) => voices.isNamed(websiteId, name, engine));
      const request: SynthesisRequest = toSynthesisRequest(voice, query, body);
      const read = planContent(request, contentOf(query, body), (one) => synthesis.plan(one, websiteId));
      const { plan, content } = read;
      await handle(options, ctx, { plan, content, context: requestContextOf(ctx, read.request, synthesis) });
    },
  });
};

/**
 * If the voice does not take SSML, a text with pauses is read as plain text, unless the client asks
 * for SSML.
 */
const planContent = (
  request: SynthesisRequest,
  { content, isAsked }: ReturnType<typeof contentOf>,
  plan: (request: SynthesisRequest) => SynthesisPlan,
) => {
  if (!content) return { request, content, plan: plan(request) };
  const characters = countCharacters(request.text);
  const document = { ...request, text: content.document, characters };
  try {
    return { request: document, content, plan: plan(document) };
  } catch (error) {
    if (isAsked || !(error instanceof Invalid)) throw error;
    return { request, content: undefined, plan: plan(request) };
  }
};

/** Delivers complete audio. Returns it with the members that `select` resolves with. */
const deliver = async <S extends object>(
  { synthesis, names }: SpeechOptions,
  ctx: Context,
  { plan, context }: Planned,
  select: (audio: Audio) => Promise<S>,
): Promise<S & { readonly audio: Audio }> => {
  const request = { hasRange: false, select };
  const { audio, selection, characters } = await synthesis.deliver(plan, context, request);
  ctx.set({
    ...ownHeaders(ctx, characters),
    [names.prosodyApplied]: formatProsodyParameters(audio.rendition.recipe.applied),
    [names.cached]: audio.source,
  });
  return { ...selection, audio };
};

const ownHeaders = (ctx: Context, characters: number): Record<string, string> => ({
  "character-cost": String(characters),
  "request-id": ctx.state.requestId,
});

const convert: Speech["handle"] = async (options, ctx, planned) => {
  const { audio } = await deliver(options, ctx, planned, async () => ({}));
  ctx.set({ "Content-Type": formats[audio.format].mimeType, ...durationHeader(audio) });
  ctx.body = audio.bytes;
};

const convertWithTimestamps: Speech["handle"] = async (options, ctx, planned) => {
  const { audio, alignment } = await deliver(options, ctx, planned, async ({ rendition }) => ({
    alignment: await alignmentOf(rendition, planned, options.getAudio, planned.context.signal),
  }));
  ctx.type = "json";
  ctx.body = Readable.from(timedJson(audio.bytes, alignment));
};

const stream: Speech["handle"] = async ({ streamResponse }, ctx, { plan, context }) => {
  const body = plainAudio(({ characters }) => ownHeaders(ctx, characters));
  await streamResponse(ctx, plan, { ...context, body });
};

const streamWithTimestamps: Speech["handle"] = async (
  { streamResponse, getAudio },
  ctx,
  { plan, context, content },
) => {
  const body: StreamBody = {
    kind: "audio",
    isStream: false,
    headers: ({ characters }) => ({
      ...ownHeaders(ctx, characters),
      "Content-Type": "application/x-ndjson",
    }),
    chunks: (stream) => timedLines(stream, { content }, getAudio, context.signal),
  };
  await streamResponse(ctx, plan, { ...context, body });
};
