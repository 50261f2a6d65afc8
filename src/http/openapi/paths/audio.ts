import { z } from "zod";
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from "zod-openapi";
import type { Described } from "../described.ts";
import { caching, contentRange, etag, requestId } from "../headers.ts";
import { nobody } from "../security.ts";
import { conditions, headOf, sound, soundHeaders } from "../sounds.ts";

const forever = caching("public, max-age=31536000, immutable");

const pull = ({ errorAnswers }: Described): ZodOpenApiOperationObject => ({
  operationId: "pullAudio",
  tags: ["Audio"],
  summary: "Pull a sound by its address",
  description: "For a CDN: immutable objects under the SHA-256 of their recipe; free engines' audio alone.",
  security: nobody,
  requestParams: {
    path: z.object({
      object: z
        .string()
        .regex(/^[0-9a-f]{64}\.(mp3|ogg|wav)$/)
        .meta({
          description: "The sound's hash and format, as `Content-Location` tells them.",
          examples: ["4e6ff6ac9dc1a7c7e0b1c1b6de4f2e8c1e2b7a9c3d5e0f1a2b3c4d5e6f708192.mp3"],
        }),
    }),
    header: z.object(conditions),
  },
  responses: {
    "200": sound("The sound.", { ...soundHeaders, ...forever }),
    "206": sound("The part of the sound that was asked for.", {
      ...soundHeaders,
      ...forever,
      ...contentRange,
    }),
    "304": {
      description: "The caller has the sound already.",
      headers: z.object({ ...requestId, ...etag, ...forever }),
    },
    ...errorAnswers("anyone", [404, 416, 500]),
  },
});

export const audioPaths = (described: Described): ZodOpenApiPathsObject => {
  const get = pull(described);
  return { "/audio/{object}": { get, head: headOf(get, "pullAudioHead") } };
};
