import { z } from "zod";
import type { ZodOpenApiContentObject } from "zod-openapi";
import {
  type AudioFormat,
  audioFormats,
  formats,
  type MimeType,
  v2Formats,
} from "../../domain/synthesis/formats.ts";
import { marksMimeType, marksName } from "../../domain/synthesis/marks.ts";
import { publicUrlPath } from "../../domain/synthesis/recipe.ts";
import { type Part, partOf } from "../caching/conditional.ts";
import { RangeNotSatisfiable } from "./errors/error-codes.ts";
import { acceptRanges, audioDuration, etag, ifNoneMatch } from "./headers.ts";

/** A response, independent of Koa. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/** A strong entity tag: the hash identifies the bytes that the store keeps under it. */
export const etagOf = (hash: string): string => `"${hash}"`;

/** The headers of every response with audio or its marks, whole or in part. */
export const audioHeaders = (
  hash: string,
  mimeType: MimeType | typeof marksMimeType,
): Record<string, string> => ({
  "Content-Type": mimeType,
  ETag: etagOf(hash),
  "Accept-Ranges": "bytes",
});

/** A `Link` header that names the marks of public audio. */
export const marksLink = (publicPath: string, audioName: string): string =>
  `<${publicPath}${publicUrlPath(marksName(audioName))}>; rel="describedby"; type="${marksMimeType}"`;

export const audioHeaderSchemas = { ...etag, ...acceptRanges, ...audioDuration };

/** Responses with audio in one of the formats. */
export const contentOf = (all: readonly AudioFormat[]): ZodOpenApiContentObject =>
  Object.fromEntries(all.map((format) => [formats[format].mimeType, {}]));

/** The endpoints of `/v2` send this content. */
export const v2AudioContent = contentOf(v2Formats);
/** The permanent URLs of audio send this content. */
export const audioContent = contentOf(audioFormats);

/**
 * With these request headers, the response to a GET of audio may have a part of the body, or none.
 */
export const conditionalRange = {
  ...ifNoneMatch,
  Range: z
    .string()
    .optional()
    .meta({
      description: "A single byte range; any other range is ignored.",
      examples: ["bytes=0-1023"],
    }),
  "If-Range": z.string().optional().meta({ description: "The entity tag that `Range` applies to." }),
};

export type RequestedPart = Exclude<Part, "unsatisfiable">;

/**
 * The requested part of the audio.
 * @throws {RangeNotSatisfiable}
 */
export const requestedPart = (
  { range, ifRange }: { readonly range?: string | undefined; readonly ifRange?: string | undefined },
  hash: string,
  size: number,
): RequestedPart => {
  const part = partOf({ range, ifRange }, etagOf(hash), size);
  if (part === "unsatisfiable") throw new RangeNotSatisfiable(size);
  return part;
};

/**
 * Adds the headers that say how many bytes follow. Returns the status: 200 with the whole audio, or
 * 206 with the part.
 */
export const setPart = (headers: Record<string, string>, part: RequestedPart, size: number): 200 | 206 => {
  if (part === "whole") {
    headers["Content-Length"] = String(size);
    return 200;
  }
  headers["Content-Length"] = String(part.last - part.first + 1);
  headers["Content-Range"] = `bytes ${part.first}-${part.last}/${size}`;
  return 206;
};

/** 200 with the whole audio, or 206 with the part. */
export const audioResponse = (
  bytes: Buffer,
  part: RequestedPart,
  headers: Record<string, string>,
): HttpResponse => ({
  status: setPart(headers, part, bytes.length),
  headers,
  body: part === "whole" ? bytes : bytes.subarray(part.first, part.last + 1),
});

/** Audio, or its marks, with the length of the audio in samples. */
export interface Measured {
  readonly length: { readonly samples: number; readonly sampleRate: number };
}

export interface MeasuredAudio extends Measured {
  readonly bytes: Buffer;
}

/** `X-Audio-Duration` of whole audio: seconds with three decimals. */
export const durationHeader = ({ length: { samples, sampleRate } }: Measured): Record<string, string> => ({
  "X-Audio-Duration": (samples / sampleRate).toFixed(3),
});
