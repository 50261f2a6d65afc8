import type { Context } from "koa";
import { z } from "zod";
import type { AudioAddresses } from "../../application/articles/audio-addresses.ts";
import type { PromisedAudio, StreamedAudio } from "../../application/articles/promised-audio.ts";
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
import { audioCaching, immutable } from "../caching/cache-control.ts";
import { noneMatchHits } from "../caching/conditional.ts";
import {
  audioContent,
  audioHeaderSchemas,
  audioHeaders,
  audioResponse,
  conditionalRange,
  durationHeader,
  type HttpResponse,
  type Measured,
  type MeasuredAudio,
  marksLink,
  type RequestedPart,
  requestedPart,
  setPart,
} from "../kernel/audio-response.ts";
import type { ClientOwner } from "../kernel/client-address.ts";
import { contentRange, etag, marks as marksHeader } from "../kernel/headers.ts";
import { disconnectSignal } from "../kernel/middleware.ts";
import { type Operation, operation, type RequestPart } from "../kernel/operation.ts";
import { respond, sendChunks } from "../kernel/respond.ts";
import type { HoldUnsentBytes } from "../kernel/unsent-bytes.ts";
import { addressQuery } from "./address-query.ts";

/** Reads whole audio or marks by their name; undefined if they do not exist. */
export type GetAudio = (name: string, signal: AbortSignal) => Promise<MeasuredAudio | undefined>;

interface AudioInfo extends Measured {
  /** The number of bytes. */
  readonly size: number;
}

interface AudioPart extends AudioInfo {
  readonly bytes: Buffer;
}

/**
 * Audio and marks by their names.
 * @throws {Unavailable}
 */
export interface AudioReads {
  /** Resolves with undefined if the audio does not exist. */
  statAudio(name: string, signal: AbortSignal): Promise<AudioInfo | undefined>;
  /**
   * Yields no part if the audio does not exist. `beforePart` is called with the size of each part,
   * and awaited before the part is read.
   */
  readAudio(
    name: string,
    range: { readonly start: number; readonly end: number },
    options: { readonly signal: AbortSignal; readonly beforePart?: (bytes: number) => Promise<void> },
  ): AsyncGenerator<AudioPart, void>;
}

interface AudioOptions {
  readonly audioReads: AudioReads;
  readonly audioAddresses: Pick<AudioAddresses, "open">;
  readonly promisedAudio: PromisedAudio;
  readonly clientOwner: ClientOwner;
  readonly holdUnsentBytes: HoldUnsentBytes;
  readonly publicPath: string;
}

interface AudioName {
  readonly hash: string;
  /** Its name in the audio store. */
  readonly name: string;
}

const audioPattern = new RegExp(
  `^[0-9a-f]{64}\\.(?:${extensionPattern}|${marksExtension.replace(".", "\\.")})$`,
);

/** A name of any other form is a 404. */
const audioParams: RequestPart<string, z.ZodObject> = {
  schema: z.object({
    object: z
      .string()
      .regex(audioPattern)
      .meta({
        description:
          "The hash and format of the audio, as in `Content-Location`; or its marks, as in `Link`.",
        examples: ["4e6ff6ac9dc1a7c7e0b1c1b6de4f2e8c1e2b7a9c3d5e0f1a2b3c4d5e6f708192.mp3"],
      }),
  }),
  read: ({ state }) => {
    const { object = "" } = state.route.params;
    if (!audioPattern.test(object)) throw notFound();
    return object;
  },
};

const isPublic = (name: string): boolean => name.startsWith("public/");

const notFound = (): NotFound => new NotFound("There is no such audio.");

const exampleMarks = [
  { time: 0, type: "sentence", start: 0, end: 12 },
  { time: 0, type: "word", start: 0, end: 5 },
  { time: 297, type: "word", start: 6, end: 11 },
] as const;

/**
 * `/audio/{object}`: immutable audio and marks for CDNs, and for a day the private audio of
 * articles. Audio is read in parts, never as a whole.
 */
export const audioOperation = (options: AudioOptions): Operation =>
  operation({
    method: "get",
    path: "/audio/{object}",
    id: "pullAudio",
    tag: "Audio",
    summary: "Get audio by its permanent URL",
    description:
      "For CDNs: immutable objects, named by a keyed hash (HMAC-SHA-256) of their recipe, which only the service can compute. Only audio of the free engines, unless the address has a signature. `{hash}.marks.json` are its marks, if `Link` names them: one JSON object per line and word, sentence or `<mark>` of SSML, with `time` (milliseconds), `type`, `start` and `end` (code points of the text; those of a `<mark>` are its tag's). The text itself is not stored.\n\nThe addresses of the parts of an article (`POST /v2/articles`) have a signature. Until the part is spoken, a request for such an address waits for it, up to 30 seconds; then, or if too many requests wait, it is 503.",
    auth: "none",
    cache: [immutable, audioCaching.own],
    headers: conditionalRange,
    params: audioParams,
    query: addressQuery,
    responses: {
      200: { description: "The audio, or its marks.", headers: audioRouteHeaders, content: audioBodies },
      206: {
        description: "The requested range of the audio.",
        headers: { ...audioRouteHeaders, ...contentRange },
        content: audioBodies,
      },
      304: { description: "The caller has the audio.", headers: etag },
    },
    errors: [404, 416, 500, 503],
    head: { id: "pullAudioHead" },
    handle: async ({ params: object, query }, ctx) => {
      const signal = disconnectSignal(ctx);
      const { name, isPromised } = options.audioAddresses.open(object, query);
      const request = { hash: object.slice(0, 64), name, signal };
      const streamed = isPromised ? await untilPromised(options, ctx, request) : undefined;
      ctx.set("Cache-Control", isPublic(name) ? immutable : audioCaching.own);
      if (streamed) return await respondWithStream(options, ctx, { ...request, streamed });
      await (isMarksName(name) ? respondWithMarks : respondWithAudio)(options, ctx, request);
    },
  });

interface AudioRequest extends AudioName {
  readonly signal: AbortSignal;
}

/**
 * Waits for promised audio. A GET of the whole audio gets it while it is spoken, if this process
 * speaks it.
 */
const untilPromised = async (
  { promisedAudio, clientOwner }: AudioOptions,
  { method, req }: Context,
  { name, signal }: AudioRequest,
): Promise<StreamedAudio | undefined> => {
  const { range, "if-none-match": ifNoneMatch } = req.headers;
  const isWhole = method === "GET" && range === undefined && ifNoneMatch === undefined;
  const promised = { name, client: clientOwner(req), signal };
  if (isWhole && !isMarksName(name)) return await promisedAudio.begin(promised);
  await promisedAudio.untilReady(promised);
  return undefined;
};

/**
 * Its bytes are those of the audio that is stored later. It has no link to marks, which do not
 * exist yet.
 */
const respondWithStream = async (
  { holdUnsentBytes }: AudioOptions,
  ctx: Context,
  { hash, name, signal, streamed }: AudioRequest & { readonly streamed: StreamedAudio },
): Promise<void> => {
  const { audio, memory } = streamed;
  const hold = holdUnsentBytes(ctx, signal);
  async function* held(): AsyncGenerator<Buffer, void> {
    for await (const chunk of audio) {
      await hold(memory.byteLength);
      yield chunk;
    }
  }
  respond(ctx, { status: 200, headers: audioHeaders(hash, mimeTypeOf(name)) });
  await sendChunks(ctx, held(), signal);
};

const respondWithAudio = async (
  { audioReads, holdUnsentBytes, publicPath }: AudioOptions,
  ctx: Context,
  { hash, name, signal }: AudioRequest,
): Promise<void> => {
  const headers = audioHeaders(hash, mimeTypeOf(name));
  const isHead = ctx.method === "HEAD";
  const needsInfo = isHead || isUnchanged(ctx, headers) || ctx.req.headers.range !== undefined;
  const info = needsInfo ? found(await audioReads.statAudio(name, signal)) : undefined;
  if (isUnchanged(ctx, headers)) return respond(ctx, notModified(headers));
  // The link to marks is not essential: if the store does not respond, the response has none.
  const marks = isPublic(name)
    ? audioReads.statAudio(marksName(name), signal).catch(() => undefined)
    : undefined;
  const part = info ? partIn(ctx, headers, info.size) : "whole";
  const range = part === "whole" ? everything : { start: part.first, end: part.last + 1 };
  const beforePart = holdUnsentBytes(ctx, signal);
  const parts = audioReads.readAudio(name, range, { signal, beforePart });
  const first = isHead ? undefined : found((await parts.next()).value ?? undefined);
  const known = first ?? found(info);
  if (info && known.size !== info.size) throw notFound(); // the audio was replaced meanwhile
  if (await marks) headers.Link = marksLink(publicPath, name);
  const status = setPart(headers, part, known.size);
  respond(ctx, { status, headers: { ...headers, ...durationHeader(known) } });
  if (first) await sendChunks(ctx, bytesOf(first, parts), signal);
};

const everything = { start: 0, end: Number.POSITIVE_INFINITY };

async function* bytesOf(first: AudioPart, others: AsyncIterable<AudioPart>): AsyncGenerator<Buffer, void> {
  yield first.bytes;
  for await (const { bytes } of others) yield bytes;
}

const collect = async (parts: AsyncIterable<AudioPart>): Promise<Buffer> => {
  const all: Buffer[] = [];
  for await (const { bytes } of parts) all.push(bytes);
  if (all.length === 0) throw notFound();
  return Buffer.concat(all);
};

/**
 * Marks are small, so they are read as a whole. Earlier versions also stored the words of the text
 * in them: these are removed.
 */
const respondWithMarks = async (
  { audioReads, holdUnsentBytes }: AudioOptions,
  ctx: Context,
  { hash, name, signal }: AudioRequest,
): Promise<void> => {
  const headers = audioHeaders(hash, marksMimeType);
  const { size } = found(await audioReads.statAudio(name, signal));
  if (isUnchanged(ctx, headers)) return respond(ctx, notModified(headers));
  await holdUnsentBytes(ctx, signal)(size);
  const marks = withoutWords(await collect(audioReads.readAudio(name, everything, { signal })));
  respond(ctx, audioResponse(marks, partIn(ctx, headers, marks.length), headers));
};

const audioRouteHeaders = { ...audioHeaderSchemas, ...marksHeader };
const audioBodies = {
  ...audioContent,
  [marksMimeType]: { schema: z.string(), example: formatMarks(exampleMarks).toString() },
};

const found = <T>(audio: T | undefined): T => {
  if (!audio) throw notFound();
  return audio;
};

type AudioHeaders = ReturnType<typeof audioHeaders>;

const isUnchanged = ({ req }: Context, { ETag = "" }: AudioHeaders): boolean =>
  noneMatchHits(req.headers["if-none-match"], [ETag]);

const notModified = ({ ETag = "" }: AudioHeaders): HttpResponse => ({ status: 304, headers: { ETag } });

/** @throws {RangeNotSatisfiable} */
const partIn = ({ method, req }: Context, { ETag = "" }: AudioHeaders, size: number): RequestedPart => {
  const { range, "if-range": ifRange } = req.headers;
  if (method !== "GET") return "whole";
  return requestedPart({ range, ifRange: ifRange as string }, ETag.slice(1, -1), size);
};
