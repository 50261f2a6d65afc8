import type { IncomingMessage } from "node:http";
import { crc32 } from "node:zlib";
import { mimeTypeOf } from "../../../domain/synthesis/formats.ts";
import { isMarksName, marksMimeType } from "../../../domain/synthesis/marks.ts";
import {
  type AudioContent,
  type AudioInfo,
  type AudioName,
  type AudioPart,
  type ByteRange,
  DamagedAudio,
  type StoredAudio,
} from "../audio-store.ts";

/** A CDN may cache public objects; private ones are read by this service only. */
export const headersOf = (name: AudioName): Record<string, string> => ({
  "Content-Type": isMarksName(name) ? marksMimeType : mimeTypeOf(name),
  "Cache-Control": name.startsWith("public/") ? "public, max-age=31536000, immutable" : "private, no-store",
});

/** Returns the `x-amz-meta-…` headers that keep what the service knows of an object. */
export const metadataOf = ({ bytes, length }: AudioContent): Record<string, string> => ({
  samples: String(length.samples),
  "sample-rate": String(length.sampleRate),
  crc32: crc32(bytes).toString(16),
});

const ownNames = ["samples", "sample-rate", "crc32"] as const;

/** Returns the members that `metadataOf` writes, from the metadata that the client has read. */
export const ownMetadata = (read: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(ownNames.flatMap((name) => (read[name] ? [[name, String(read[name])]] : [])));

/** @throws {DamagedAudio} the object is empty, or was put by another program */
export const infoOf = (
  size: number,
  metadata: Readonly<Record<string, unknown>>,
  lastModified: number,
): AudioInfo => {
  const [samples, sampleRate] = [Number(metadata.samples), Number(metadata["sample-rate"])];
  const isOurs = typeof metadata.crc32 === "string" && Number.isSafeInteger(samples) && sampleRate > 0;
  if (!isOurs || !(size > 0)) throw new DamagedAudio();
  return {
    size,
    length: { samples, sampleRate },
    usedAt: Number.isNaN(lastModified) ? 0 : lastModified,
    hasChecksum: (checksum) => checksum.toString(16) === metadata.crc32,
  };
};

/** @throws {DamagedAudio} the bytes are not those that were put, or were put by another program */
export const readResponse = async (response: IncomingMessage): Promise<StoredAudio> => {
  const bytes = await readBody(response, maxObjectBytes);
  const { length, usedAt, hasChecksum } = infoOfResponse(response, bytes.length);
  if (!hasChecksum(crc32(bytes))) throw new DamagedAudio();
  return { bytes, length, usedAt };
};

/** @throws {DamagedAudio} bytes are missing, or were put by another program */
export const readPartResponse = async (
  response: IncomingMessage,
  { start, end }: ByteRange,
): Promise<AudioPart> => {
  const bytes = await readBody(response, end - start);
  const [, first, size] = /^bytes (\d+)-\d+\/(\d+)$/.exec(response.headers["content-range"] ?? "") ?? [];
  const info = infoOfResponse(response, Number(size));
  if (Number(first) !== start || bytes.length !== Math.min(end, info.size) - start) throw new DamagedAudio();
  return { ...info, bytes };
};

const infoOfResponse = ({ headers }: IncomingMessage, size: number): AudioInfo => {
  const metadata = Object.fromEntries(ownNames.map((name) => [name, headers[`x-amz-meta-${name}`]]));
  return infoOf(size, metadata, Date.parse(headers["last-modified"] ?? ""));
};

const maxObjectBytes = 64 * 1024 * 1024;

/**
 * A body that is too large ends the connection.
 * @throws {DamagedAudio}
 */
const readBody = async (body: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) throw new DamagedAudio();
  }
  return Buffer.concat(chunks, size);
};
