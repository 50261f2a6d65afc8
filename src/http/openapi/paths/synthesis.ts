import { z } from "zod";
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from "zod-openapi";
import type { HeaderNames } from "../../kernel/header-names.ts";
import { type RequestSchema, streamed } from "../../routes/synthesis/request.ts";
import { type LegacyRequestSchema, legacyRequest } from "../../routes/v1/request.ts";
import type { Described } from "../described.ts";
import {
  acceptRanges,
  cached,
  caching,
  contentLocation,
  contentRange,
  deprecation,
  etag,
  limits,
  prosodyApplied,
  renewal,
  requestId,
  streaming,
} from "../headers.ts";
import { websites } from "../security.ts";
import { conditions, headOf, idempotency, sound, soundHeaders } from "../sounds.ts";

const dayAndWeek = "public, max-age=86400, s-maxage=604800";
const day = "public, max-age=86400";
/** Of a website's own engines. */
const ownDay = "private, max-age=86400";
/** Spoken by a fallback voice. */
const fallbacks = ["public, max-age=60", "private, max-age=60"];

/** `/v2/text/synthesize`, and what remains of v1. */
export const synthesisPaths = ({ schema, names, errorAnswers }: Described): ZodOpenApiPathsObject => {
  // Refused before anyone looks at whose request or which path it is.
  const tooLong = errorAnswers("anyone", [431]);
  const get: ZodOpenApiOperationObject = {
    operationId: "synthesize",
    tags: ["Synthesis"],
    summary: "Speak a text",
    description:
      "The same parameters always give the same sound. `pitch=` and `pitch=null` count as absent, unknown parameters are ignored.",
    security: websites,
    requestParams: { query: queryOf(schema), header: z.object({ ...conditions, ...idempotency }) },
    responses: { ...answersToGet(names), ...errorAnswers("counted", getErrors), ...tooLong },
  };
  const legacy: ZodOpenApiOperationObject = {
    ...get,
    operationId: "synthesizeLegacy",
    tags: ["Legacy"],
    deprecated: true,
    summary: "Speak a text, as v1 asked for it",
    description: "The same sounds, limits and errors as v2. There is no `voice` and no `format`.",
    requestParams: {
      query: queryOf(legacyRequest(schema)),
      header: z.object({ ...conditions, ...idempotency }),
    },
    responses: {
      ...answersToGet(names, deprecation),
      ...errorAnswers("counted", getErrors, deprecation),
      ...tooLong,
    },
  };
  return {
    "/v2/text/synthesize": {
      get,
      head: headOf(get, "synthesizeHead", cached(names)),
      post: {
        operationId: "synthesizeByPost",
        tags: ["Synthesis"],
        summary: "Speak a text that is too long or too private for an address",
        description:
          "`Accept: text/event-stream` asks for speech while it is made: with `stream: true` in the body as server-sent events, without it as the audio's own bytes, whose connection breaks off when it fails midway. Only engines on the website's own credentials stream: 404 for all others.",
        security: websites,
        requestParams: { header: z.object(idempotency) },
        requestBody: {
          required: true,
          content: {
            "application/json": {
              schema: schema.and(streamed),
              example: { voice: "UK English Female", text: "The train to Oxford leaves at nine.", rate: 1.2 },
            },
          },
        },
        responses: {
          ...answersToPost(names),
          ...errorAnswers("counted", [400, 401, 403, 404, 413, 429, 500, 502, 503]),
        },
      },
    },
    "/v1/text:synthesize": { get: legacy, head: headOf(legacy, "synthesizeLegacyHead", cached(names)) },
  };
};

const getErrors = [400, 401, 403, 404, 416, 429, 500, 502, 503] as const;

/** Numbers in an address may also be written `null`. */
const queryOf = (schema: RequestSchema | LegacyRequestSchema) => {
  const { pitch, rate, volume } = schema.shape;
  const nullable = (knob: typeof pitch) =>
    knob
      .unwrap()
      .nullable()
      .optional()
      .meta({ description: knob.description, default: knob.parse(undefined) });
  return z.object({
    ...schema.shape,
    pitch: nullable(pitch),
    rate: nullable(rate),
    volume: nullable(volume),
  });
};

const answersWithSound = (names: HeaderNames, lifetimes: string[], more: z.ZodRawShape) => ({
  "200": sound("The sound.", {
    ...soundHeaders,
    ...limits,
    ...caching(...lifetimes, ...fallbacks),
    ...contentLocation,
    ...prosodyApplied(names),
    ...cached(names),
    ...renewal(names),
    ...more,
  }),
  "204": {
    description: "Silence was asked for (volume 0): there is nothing to hear.",
    headers: z.object({
      ...requestId,
      ...limits,
      ...caching(...lifetimes),
      ...prosodyApplied(names),
      ...renewal(names),
      ...more,
    }),
  },
});

/** The whole sound, or a stream, which no cache keeps and which has no tag. */
const answersToPost = (names: HeaderNames) => {
  const { "200": whole, "204": silence } = answersWithSound(names, [day, ownDay], {});
  return {
    "200": {
      ...whole,
      headers: z.object({
        ...whole.headers.shape,
        ...caching(day, ownDay, ...fallbacks, "no-store"),
        ...z.object({ ...etag, ...acceptRanges }).partial().shape,
        ...streaming,
      }),
      content: { ...whole.content, "text/event-stream": { schema: SpeechEvents, example: eventsExample } },
    },
    "204": silence,
  };
};

const SpeechEvents = z.string().meta({
  id: "SpeechEvents",
  description:
    "Events of a speech while it is made; `data` holds the whole chunk. `metadata` {type, contentType, prosodyApplied}, then `audio` {type, chunkIndex, data (base64)}, then `end` {type, totalBytes, totalChunks}, or `error` {type, message, retryable}.",
});

const eventsExample = [
  'event: metadata\ndata: {"type":"metadata","contentType":"audio/mpeg","prosodyApplied":["rate"]}\n\n',
  'event: audio\ndata: {"type":"audio","chunkIndex":0,"data":"//NkxAAAAA=="}\n\n',
  'event: end\ndata: {"type":"end","totalBytes":7,"totalChunks":1}\n\n',
].join("");

const answersToGet = (names: HeaderNames, more: z.ZodRawShape = {}) => {
  const answers = answersWithSound(names, [dayAndWeek, ownDay], more);
  return {
    ...answers,
    "206": sound("The part of the sound that was asked for.", {
      ...answers["200"].headers.shape,
      ...contentRange,
    }),
    "304": {
      description: "The caller has the sound already.",
      headers: z.object({
        ...requestId,
        ...limits,
        ...etag,
        ...caching(dayAndWeek, ownDay),
        ...contentLocation,
        ...renewal(names),
        ...more,
      }),
    },
  };
};
