import type { AudioLength } from "./audio-length.ts";

/** Returns the table of a CRC of 8 or 16 bits: one value per byte. */
const crcTable = (polynomial: number, bits: 8 | 16): Uint16Array =>
  Uint16Array.from({ length: 256 }, (_, byte) => {
    let crc = byte << (bits - 8);
    for (let bit = 0; bit < 8; bit++) crc = (crc << 1) ^ (crc >>> (bits - 1) ? polynomial : 0);
    return crc;
  });
const crc8 = crcTable(0x107, 8);
const crc16 = crcTable(0x18005, 16);

/**
 * Returns the offset of the first frame; undefined if the bytes are not FLAC (RFC 9639, section 8).
 */
const firstFrame = (flac: Buffer): number | undefined => {
  if (flac.toString("latin1", 0, 4) !== "fLaC" || flac.length < 42) return undefined;
  for (let at = 4; at + 4 <= flac.length; ) {
    const isLast = (flac[at] ?? 0) >= 0x80;
    at += 4 + flac.readUIntBE(at + 1, 3);
    if (isLast) return at;
  }
  return flac.length + 1; // truncated within the metadata
};

/**
 * Returns the number of samples of the frame that begins at `at`; undefined if none begins there
 * (RFC 9639, section 9.1).
 */
const frameSamples = (flac: Buffer, at: number): number | undefined => {
  if (flac[at] !== 0xff || ((flac[at + 1] ?? 0) & 0xfe) !== 0xf8) return undefined;
  const [sizeCode, rateCode] = [(flac[at + 2] ?? 0) >>> 4, (flac[at + 2] ?? 0) & 15];
  const number = flac[at + 4] ?? 0; // the frame's number is coded like a character of UTF-8
  const sizeAt = at + 4 + Math.max(1, Math.clz32(~(number << 24)));
  const sizeBytes = sizeCode === 6 ? 1 : sizeCode === 7 ? 2 : 0;
  const end = sizeAt + sizeBytes + (rateCode === 12 ? 1 : rateCode === 13 || rateCode === 14 ? 2 : 0);
  if (end >= flac.length || flac[end] !== checksum8(flac, at, end)) return undefined;
  if (sizeBytes > 0) return flac.readUIntBE(sizeAt, sizeBytes) + 1;
  if (sizeCode === 1) return 192;
  return sizeCode >= 8 ? 256 << (sizeCode - 8) : 576 << (sizeCode - 2);
};

const checksum8 = (bytes: Buffer, from: number, to: number): number => {
  let crc = 0;
  for (let at = from; at < to; at++) crc = crc8[crc ^ (bytes[at] ?? 0)] ?? 0;
  return crc;
};

/**
 * Returns the end of the frame. Its checksum is right there, and another frame or nothing follows.
 * Returns undefined if the frame is truncated.
 */
const frameEnd = (flac: Buffer, from: number): number | undefined => {
  let crc = 0;
  for (let at = from; at < flac.length; ) {
    crc = ((crc << 8) & 0xffff) ^ (crc16[(crc >>> 8) ^ (flac[at] ?? 0)] ?? 0);
    at++;
    if (crc === 0 && at > from + 6 && (at === flac.length || frameSamples(flac, at) !== undefined)) return at;
  }
  return undefined;
};

/** Returns undefined if the bytes are not FLAC, or are truncated. */
const countSamples = (flac: Buffer): number | undefined => {
  let at = firstFrame(flac);
  let samples = 0;
  while (at !== undefined && at !== flac.length) {
    const inFrame = frameSamples(flac, at);
    if (inFrame === undefined) return undefined;
    samples += inFrame;
    at = frameEnd(flac, at);
  }
  return at === undefined ? undefined : samples;
};

/** True if the bytes end inside the metadata or a frame, or a frame is damaged. */
export const isTruncatedFlac = (bytes: Buffer): boolean =>
  firstFrame(bytes) !== undefined && countSamples(bytes) === undefined;

export const measureFlac = (flac: Buffer): AudioLength | undefined => {
  const samples = countSamples(flac);
  return samples === undefined ? undefined : { samples, sampleRate: flac.readUIntBE(18, 3) >>> 4 };
};

/**
 * Writes the number of samples into STREAMINFO, where a streaming encoder leaves it unknown (RFC
 * 9639, section 8.2).
 */
export const fixFlacSize = (flac: Buffer): Buffer => {
  const samples = countSamples(flac);
  return samples === undefined ? flac : withSampleCount(flac, samples);
};

/** Returns the beginning of FLAC audio as streams send it: with an unknown number of samples. */
export const withoutFlacSize = (start: Buffer): Buffer =>
  start.toString("latin1", 0, 4) === "fLaC" && start.length >= 26 ? withSampleCount(start, 0) : start;

/** Writes the number of samples, which has 36 bits in STREAMINFO. */
const withSampleCount = (flac: Buffer, samples: number): Buffer => {
  const count = samples % 2 ** 36;
  if (count === flac.readUIntBE(21, 5) % 2 ** 36) return flac;
  const changed = Buffer.from(flac);
  const other = (flac[21] ?? 0) & 0xf0;
  changed.writeUIntBE(count, 21, 5);
  changed[21] = ((changed[21] ?? 0) & 0x0f) | other;
  return changed;
};
