import type { IncomingMessage } from "node:http";
import { crc32 } from "node:zlib";
import { mimeTypeOf } from "../../../domain/synthesis/formats.ts";
import { isMarksName, marksMimeType } from "../../../domain/synthesis/marks.ts";
import { type AudioObject, DamagedObject, type ObjectName, type StoredObject } from "../audio-store.ts";

/** A CDN may cache public objects; private ones are read by this service only. */
export const headersOf = (name: ObjectName): Record<string, string> => ({
  "Content-Type": isMarksName(name) ? marksMimeType : mimeTypeOf(name),
  "Cache-Control": name.startsWith("public/") ? "public, max-age=31536000, immutable" : "private, no-store",
});

/** What the service knows of an object, kept in its `x-amz-meta-…` headers. */
export const metadataOf = ({ bytes, length }: AudioObject): Record<string, string> => ({
  samples: String(length.samples),
  "sample-rate": String(length.sampleRate),
  crc32: crc32(bytes).toString(16),
});

/** The same members of the metadata that the client has read. */
export const ownMetadata = (read: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    ["samples", "sample-rate", "crc32"].flatMap((name) => (read[name] ? [[name, String(read[name])]] : [])),
  );

/** @throws {DamagedObject} the bytes are not those that were put, or were put by another program */
export const readResponse = async (response: IncomingMessage): Promise<StoredObject> => {
  const bytes = await readBody(response);
  const read = (name: string): string => String(response.headers[`x-amz-meta-${name}`] ?? "");
  const [samples, sampleRate] = [Number(read("samples")), Number(read("sample-rate"))];
  const isWhole = bytes !== undefined && crc32(bytes).toString(16) === read("crc32");
  if (!isWhole || !Number.isSafeInteger(samples) || !(sampleRate > 0)) throw new DamagedObject();
  const modified = Date.parse(response.headers["last-modified"] ?? "");
  return { bytes, length: { samples, sampleRate }, usedAt: Number.isNaN(modified) ? 0 : modified };
};

const maxObjectBytes = 64 * 1024 * 1024;

/** Undefined for an empty body and for one that is too large, which ends the connection. */
const readBody = async (body: AsyncIterable<Buffer>): Promise<Buffer | undefined> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxObjectBytes) return undefined;
  }
  return size === 0 ? undefined : Buffer.concat(chunks, size);
};
