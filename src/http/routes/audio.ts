import type { Context } from "koa";
import { z } from "zod";
import { NotFound } from "../../domain/errors.ts";
import { type AudioFormat, extensionPattern, formatOf } from "../../domain/synthesis/formats.ts";
import { objectName } from "../../domain/synthesis/recipe.ts";
import { immutable } from "../caching/cache-control.ts";
import { noneMatchHits } from "../caching/conditional.ts";
import {
  type AudioDuration,
  audioContent,
  audioHeaderSchemas,
  audioHeaders,
  audioResponse,
  conditionalRange,
  etagOf,
  type HttpResponse,
  requestedPart,
} from "../kernel/audio-body.ts";
import { contentRange, etag } from "../kernel/headers.ts";
import { disconnectSignal } from "../kernel/middleware.ts";
import { type Operation, operation, type RequestPart } from "../kernel/operation.ts";
import { reply } from "../kernel/reply.ts";

/** Reads an object by its name; undefined if it does not exist. */
export type GetObject = (name: string, signal: AbortSignal) => Promise<Buffer | undefined>;

interface ObjectName {
  readonly hash: string;
  readonly format: AudioFormat;
}

const objectPattern = new RegExp(`^[0-9a-f]{64}\\.${extensionPattern}$`);

/** Every other name is a 404. */
const objectParams: RequestPart<ObjectName, z.ZodObject> = {
  schema: z.object({
    object: z
      .string()
      .regex(objectPattern)
      .meta({
        description: "The hash and format of the audio, as in `Content-Location`.",
        examples: ["4e6ff6ac9dc1a7c7e0b1c1b6de4f2e8c1e2b7a9c3d5e0f1a2b3c4d5e6f708192.mp3"],
      }),
  }),
  read: ({ params }) => {
    if (!objectPattern.test(params.object)) throw notFound();
    return { hash: params.object.slice(0, 64), format: formatOf(params.object) };
  },
};

const notFound = (): NotFound => new NotFound("There is no such audio.");

/** `/audio/{object}`: immutable objects for CDNs; only audio of the free engines. */
export const audioOperation = ({
  getObject,
  audioDuration,
}: {
  getObject: GetObject;
  audioDuration: AudioDuration;
}): Operation =>
  operation({
    method: "get",
    path: "/audio/{object}",
    id: "pullAudio",
    tag: "Audio",
    summary: "Get audio by its permanent URL",
    description:
      "For CDNs: immutable objects, named by the SHA-256 of their recipe. Only audio of the free engines.",
    auth: "none",
    cache: [immutable],
    headers: conditionalRange,
    params: objectParams,
    responses: {
      200: { description: "The audio.", headers: audioHeaderSchemas, content: audioContent },
      206: {
        description: "The requested range of the audio.",
        headers: { ...audioHeaderSchemas, ...contentRange },
        content: audioContent,
      },
      304: { description: "The caller has the audio.", headers: etag },
    },
    errors: [404, 416, 500],
    head: { id: "pullAudioHead" },
    handle: async ({ params: { hash, format } }, ctx) => {
      const bytes = await getObject(objectName({ format }, hash), disconnectSignal(ctx));
      if (!bytes) throw notFound();
      const response = objectResponse(ctx, { hash, format }, bytes);
      if (response.body) ctx.set(audioDuration(format, bytes));
      reply(ctx, response);
    },
  });

const objectResponse = (ctx: Context, { hash, format }: ObjectName, bytes: Buffer): HttpResponse => {
  const { range, "if-range": ifRange, "if-none-match": ifNoneMatch } = ctx.req.headers;
  if (noneMatchHits(ifNoneMatch, [etagOf(hash)])) return { status: 304, headers: { ETag: etagOf(hash) } };
  const isGet = ctx.method === "GET";
  const part = isGet ? requestedPart({ range, ifRange: ifRange as string }, hash, bytes.length) : "whole";
  return audioResponse(bytes, part, audioHeaders(hash, format));
};
