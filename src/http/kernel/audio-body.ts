import { type AudioFormat, contentTypes } from "../../domain/synthesis/speech.ts";
import { type Part, partOf } from "../caching/conditional.ts";
import { RangeNotSatisfiable } from "./errors.ts";

/** What goes out, before anything of HTTP's machinery touches it. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/** A strong tag: the same address always stands for the same bytes. */
export const etagOf = (hash: string): string => `"${hash}"`;

/** What every answer about a whole or partial sound says of it. */
export const soundHeaders = (hash: string, format: AudioFormat): Record<string, string> => ({
  "Content-Type": contentTypes[format],
  ETag: etagOf(hash),
  "Accept-Ranges": "bytes",
});

/** The part of the sound that was asked for. @throws {RangeNotSatisfiable} */
export const askedPart = (
  asked: { readonly range?: string | undefined; readonly ifRange?: string | undefined },
  hash: string,
  size: number,
): Exclude<Part, "unsatisfiable"> => {
  const part = partOf({ range: asked.range, ifRange: asked.ifRange }, etagOf(hash), size);
  if (part === "unsatisfiable") throw new RangeNotSatisfiable(size);
  return part;
};

/** 200 with the whole or 206 with the part. */
export const soundAnswer = (
  bytes: Buffer,
  part: Exclude<Part, "unsatisfiable">,
  headers: Record<string, string>,
): Answer => {
  if (part === "whole") {
    headers["Content-Length"] = String(bytes.length);
    return { status: 200, headers, body: bytes };
  }
  headers["Content-Length"] = String(part.last - part.first + 1);
  headers["Content-Range"] = `bytes ${part.first}-${part.last}/${bytes.length}`;
  return { status: 206, headers, body: bytes.subarray(part.first, part.last + 1) };
};
