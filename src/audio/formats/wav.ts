import { isUnknownSize, unknownSize } from "../../domain/synthesis/wav-header.ts";
import type { AudioLength } from "./audio-length.ts";

/**
 * Replaces unknown sizes in the header by the true ones, which players and range requests need.
 * Changes `bytes`, and returns them.
 */
export const fixWavSizes = (bytes: Buffer): Buffer => {
  const data = findChunk(bytes, "data");
  if (data === undefined) return bytes;
  const size = bytes.length - data - 8;
  const fixRiff = isUnknownSize(bytes.readUInt32LE(4));
  const fixData = size > 0 && isUnknownSize(bytes.readUInt32LE(data + 4));
  if (fixRiff) bytes.writeUInt32LE(bytes.length - 8, 4);
  if (fixData) bytes.writeUInt32LE(size, data + 4);
  return bytes;
};

/** Returns the beginning of a WAV as streams send it: with unknown sizes in its header. */
export const withoutWavSizes = (start: Buffer): Buffer => {
  const data = findChunk(start, "data");
  if (data === undefined) return start;
  const cleared = Buffer.from(start);
  cleared.writeUInt32LE(unknownSize, 4);
  cleared.writeUInt32LE(unknownSize, data + 4);
  return cleared;
};

/** Returns the offset of the first chunk of that name, which begins with a header of 8 bytes. */
const findChunk = (bytes: Buffer, name: "fmt " | "data"): number | undefined => {
  if (!isWav(bytes)) return undefined;
  for (let at = 12; at + 8 <= bytes.length; ) {
    if (bytes.toString("latin1", at, at + 4) === name) return at;
    const size = bytes.readUInt32LE(at + 4);
    at += 8 + size + (size % 2);
  }
  return undefined;
};

const isWav = (bytes: Buffer): boolean =>
  bytes.length >= 12 &&
  bytes.toString("latin1", 0, 4) === "RIFF" &&
  bytes.toString("latin1", 8, 12) === "WAVE";

/** True if the header declares more bytes than there are. */
export const isTruncatedWav = (bytes: Buffer): boolean => {
  if (!isWav(bytes)) return false;
  const size = bytes.readUInt32LE(4);
  return !isUnknownSize(size) && size + 8 > bytes.length;
};

export const measureWav = (bytes: Buffer): AudioLength | undefined => {
  const format = findChunk(bytes, "fmt ");
  const data = findChunk(bytes, "data");
  if (format === undefined || data === undefined) return undefined;
  const sampleRate = bytes.readUInt32LE(format + 12);
  const bytesPerSample = bytes.readUInt16LE(format + 20); // a sample of each channel
  const declared = bytes.readUInt32LE(data + 4);
  const present = bytes.length - data - 8;
  const size = isUnknownSize(declared) ? present : Math.min(declared, present);
  if (sampleRate === 0 || bytesPerSample === 0) return undefined;
  return { samples: Math.floor(size / bytesPerSample), sampleRate };
};
