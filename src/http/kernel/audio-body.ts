import { z } from "zod";
import type { ZodOpenApiContentObject } from "zod-openapi";
import { type AudioFormat, audioFormats, formats } from "../../domain/synthesis/formats.ts";
import { type Part, partOf } from "../caching/conditional.ts";
import { RangeNotSatisfiable } from "./errors.ts";
import { acceptRanges, audioDuration, etag, ifNoneMatch } from "./headers.ts";

/** A response, independent of Koa. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/** A strong entity tag: the same hash always means the same bytes. */
export const etagOf = (hash: string): string => `"${hash}"`;

/** The headers of every response with audio, whole or in part. */
export const audioHeaders = (hash: string, format: AudioFormat): Record<string, string> => ({
  "Content-Type": formats[format].mimeType,
  ETag: etagOf(hash),
  "Accept-Ranges": "bytes",
});

export const audioHeaderSchemas = { ...etag, ...acceptRanges, ...audioDuration };

export const audioContent: ZodOpenApiContentObject = Object.fromEntries(
  audioFormats.map((format) => [formats[format].mimeType, {}]),
);

/** The request headers of a GET of audio that may be answered without the whole body. */
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

/** The requested part of the audio. @throws {RangeNotSatisfiable} */
export const requestedPart = (
  { range, ifRange }: { readonly range?: string | undefined; readonly ifRange?: string | undefined },
  hash: string,
  size: number,
): Exclude<Part, "unsatisfiable"> => {
  const part = partOf({ range, ifRange }, etagOf(hash), size);
  if (part === "unsatisfiable") throw new RangeNotSatisfiable(size);
  return part;
};

/** 200 with the whole audio, or 206 with the part. */
export const audioResponse = (
  bytes: Buffer,
  part: Exclude<Part, "unsatisfiable">,
  headers: Record<string, string>,
): HttpResponse => {
  if (part === "whole") {
    headers["Content-Length"] = String(bytes.length);
    return { status: 200, headers, body: bytes };
  }
  headers["Content-Length"] = String(part.last - part.first + 1);
  headers["Content-Range"] = `bytes ${part.first}-${part.last}/${bytes.length}`;
  return { status: 206, headers, body: bytes.subarray(part.first, part.last + 1) };
};

/** Measures audio in its container; undefined if the bytes cannot be parsed. */
export type MeasureAudio = (
  format: AudioFormat,
  bytes: Buffer,
) => { readonly samples: number; readonly sampleRate: number } | undefined;

/** `X-Audio-Duration` of whole audio, in seconds with three decimals; no header if it cannot be measured. */
export type AudioDuration = (format: AudioFormat, bytes: Buffer) => Readonly<Record<string, string>>;

/** Measures each buffer once, because audio in memory is sent many times. */
export const createAudioDuration = (measure: MeasureAudio): AudioDuration => {
  const measured = new WeakMap<Buffer, Readonly<Record<string, string>>>();
  return (format, bytes) => {
    const known = measured.get(bytes);
    if (known) return known;
    const length = measure(format, bytes);
    const headers = length ? { "X-Audio-Duration": (length.samples / length.sampleRate).toFixed(3) } : {};
    measured.set(bytes, headers);
    return headers;
  };
};
