import type { Context } from "koa";
import { z } from "zod";
import { NotFound } from "../../domain/errors.ts";
import { extensionPattern, mimeTypeOf } from "../../domain/synthesis/formats.ts";
import {
  formatMarks,
  isMarksName,
  marksExtension,
  marksMimeType,
  marksName,
  withoutWords,
} from "../../domain/synthesis/marks.ts";
import { immutable } from "../caching/cache-control.ts";
import { noneMatchHits } from "../caching/conditional.ts";
import {
  audioContent,
  audioHeaderSchemas,
  audioHeaders,
  audioResponse,
  conditionalRange,
  durationHeader,
  type HttpResponse,
  type MeasuredAudio,
  marksLink,
  requestedPart,
} from "../kernel/audio-response.ts";
import { contentRange, etag, marks as marksHeader } from "../kernel/headers.ts";
import { disconnectSignal } from "../kernel/middleware.ts";
import { type Operation, operation, type RequestPart } from "../kernel/operation.ts";
import { reply } from "../kernel/reply.ts";

/** Reads an object by its name; undefined if it does not exist. */
export type GetObject = (name: string, signal: AbortSignal) => Promise<MeasuredAudio | undefined>;

interface ObjectName {
  readonly hash: string;
  /** In the audio store. */
  readonly name: string;
}

const objectPattern = new RegExp(
  `^[0-9a-f]{64}\\.(?:${extensionPattern}|${marksExtension.replace(".", "\\.")})$`,
);

/** Every other name is a 404. */
const objectParams: RequestPart<ObjectName, z.ZodObject> = {
  schema: z.object({
    object: z
      .string()
      .regex(objectPattern)
      .meta({
        description:
          "The hash and format of the audio, as in `Content-Location`; or its marks, as in `Link`.",
        examples: ["4e6ff6ac9dc1a7c7e0b1c1b6de4f2e8c1e2b7a9c3d5e0f1a2b3c4d5e6f708192.mp3"],
      }),
  }),
  read: ({ params }) => {
    if (!objectPattern.test(params.object)) throw notFound();
    return { hash: params.object.slice(0, 64), name: `public/${params.object}` };
  },
};

const notFound = (): NotFound => new NotFound("There is no such audio.");

const exampleMarks = [
  { time: 0, type: "sentence", start: 0, end: 12 },
  { time: 0, type: "word", start: 0, end: 5 },
  { time: 297, type: "word", start: 6, end: 11 },
] as const;

/** `/audio/{object}`: immutable objects for CDNs; only audio of the free engines. */
export const audioOperation = ({
  getObject,
  publicPath,
}: {
  getObject: GetObject;
  publicPath: string;
}): Operation =>
  operation({
    method: "get",
    path: "/audio/{object}",
    id: "pullAudio",
    tag: "Audio",
    summary: "Get audio by its permanent URL",
    description:
      "For CDNs: immutable objects, named by a keyed hash (HMAC-SHA-256) of their recipe, which only the service can compute. Only audio of the free engines. `{hash}.marks.json` are its marks, if `Link` names them: one JSON object per line and word or sentence, with `time` (milliseconds), `type`, `start` and `end` (code points of the text). The text itself is not stored.",
    auth: "none",
    cache: [immutable],
    headers: conditionalRange,
    params: objectParams,
    responses: {
      200: { description: "The audio, or its marks.", headers: objectHeaders, content: objectContent },
      206: {
        description: "The requested range of the audio.",
        headers: { ...objectHeaders, ...contentRange },
        content: objectContent,
      },
      304: { description: "The caller has the audio.", headers: etag },
    },
    errors: [404, 416, 500],
    head: { id: "pullAudioHead" },
    handle: async ({ params: { hash, name } }, ctx) => {
      const signal = disconnectSignal(ctx);
      if (isMarksName(name)) {
        const marks = await found(getObject(name, signal));
        return reply(ctx, objectResponse(ctx, audioHeaders(hash, marksMimeType), withoutWords(marks.bytes)));
      }
      const [object, hasMarks] = await Promise.all([
        found(getObject(name, signal)),
        // Whether there are marks is not essential: without an answer there is no link.
        getObject(marksName(name), signal).catch(() => undefined),
      ]);
      const link = hasMarks && { Link: marksLink(publicPath, name) };
      const response = objectResponse(
        ctx,
        { ...audioHeaders(hash, mimeTypeOf(name)), ...link },
        object.bytes,
      );
      if (response.body) ctx.set(durationHeader(object));
      reply(ctx, response);
    },
  });

const objectHeaders = { ...audioHeaderSchemas, ...marksHeader };
const objectContent = {
  ...audioContent,
  [marksMimeType]: { schema: z.string(), example: formatMarks(exampleMarks).toString() },
};

const found = async (reading: Promise<MeasuredAudio | undefined>): Promise<MeasuredAudio> => {
  const object = await reading;
  if (!object) throw notFound();
  return object;
};

const objectResponse = (ctx: Context, headers: Record<string, string>, bytes: Buffer): HttpResponse => {
  const { range, "if-range": ifRange, "if-none-match": ifNoneMatch } = ctx.req.headers;
  const { ETag = "" } = headers;
  if (noneMatchHits(ifNoneMatch, [ETag])) return { status: 304, headers: { ETag } };
  const part =
    ctx.method === "GET"
      ? requestedPart({ range, ifRange: ifRange as string }, ETag.slice(1, -1), bytes.length)
      : "whole";
  return audioResponse(bytes, part, headers);
};
