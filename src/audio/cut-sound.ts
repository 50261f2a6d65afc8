import type { AudioFormat } from "../domain/speech.ts";
import { isCutWav } from "./wav.ts";

/**
 * Whether the sound demonstrably stops short: inside an MPEG frame, an Ogg page, or before the length that a WAV
 * header tells. A second line behind transports and exit codes: what it cannot read it does not accuse, and a cut
 * exactly between two frames it cannot see.
 */
export const isCut = (format: AudioFormat, bytes: Buffer): boolean => cutBy[format](bytes);

const isCutMp3 = (bytes: Buffer): boolean => {
  let frames = 0;
  let at = afterId3(bytes);
  while (at + 4 <= bytes.length) {
    const length = mpegFrameLength(bytes.readUInt32BE(at));
    if (length === undefined) return false; // a tag, or something we do not know
    at += length;
    frames++;
  }
  if (at === bytes.length || frames < 2) return false;
  return at > bytes.length || bytes[at] === 0xff;
};

/** An ID3v2 tag's length is written in four bytes of seven bits. */
const afterId3 = (bytes: Buffer): number => {
  if (bytes.length < 10 || bytes.toString("latin1", 0, 3) !== "ID3") return 0;
  return 10 + bytes.subarray(6, 10).reduce((size, byte) => size * 128 + (byte & 0x7f), 0);
};

/** kbit/s by index, Layer III of MPEG-1 and of MPEG-2 and 2.5 (ISO 11172-3, 13818-3). */
const rates1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const rates2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
/** Hz by index for MPEG-1; halved for MPEG-2, again for 2.5. */
const samplings = [44_100, 48_000, 32_000];

/** In bytes, header included; undefined for what is no Layer III header, or one that does not tell a length. */
const mpegFrameLength = (header: number): number | undefined => {
  const version = (header >>> 19) & 3; // 3: MPEG-1, 2: MPEG-2, 0: MPEG-2.5
  const layer = (header >>> 17) & 3; // 1: Layer III
  const kilobits = (version === 3 ? rates1 : rates2)[(header >>> 12) & 15];
  const sampling = samplings[(header >>> 10) & 3];
  if (header >>> 21 !== 0x7ff || version === 1 || layer !== 1 || !kilobits || !sampling) return undefined;
  const hertz = version === 3 ? sampling : version === 2 ? sampling / 2 : sampling / 4;
  const padding = (header >>> 9) & 1;
  return Math.floor(((version === 3 ? 144_000 : 72_000) * kilobits) / hertz) + padding;
};

/** RFC 3533: 27 bytes, the last of which counts the segments, their lengths, the segments. */
const isCutOgg = (bytes: Buffer): boolean => {
  let at = 0;
  while (at < bytes.length) {
    if (!"OggS".startsWith(bytes.toString("latin1", at, at + 4))) return false;
    const segments = bytes[at + 26];
    const table = bytes.subarray(at + 27, at + 27 + (segments ?? 0));
    if (segments === undefined || table.length < segments) return true;
    at += 27 + segments + table.reduce((sum, length) => sum + length, 0);
  }
  return at > bytes.length;
};

const cutBy: Readonly<Record<AudioFormat, (bytes: Buffer) => boolean>> = {
  mp3: isCutMp3,
  ogg: isCutOgg,
  wav: isCutWav,
};
