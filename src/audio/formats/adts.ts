import type { AudioLength } from "./audio-length.ts";
import { afterId3, type Frames } from "./mpeg.ts";

/** The sample rates in Hz, by their index in the header (ISO 14496-3, table 1.18). */
const sampleRates = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000, 7350,
];
const headerBytes = 7;

/** Walks the frames of AAC in ADTS (ISO 14496-3, section 1.A.2.2), after an ID3v2 tag. */
const adtsFrames = (aac: Buffer): Frames => {
  let at = afterId3(aac);
  let samples = 0;
  let sampleRate: number | undefined;
  while (at + headerBytes <= aac.length) {
    const header = aac.readUInt32BE(at);
    const rate = sampleRates[(header >>> 10) & 15];
    const length = ((header & 3) << 11) | (aac.readUInt16BE(at + 4) >>> 5);
    const isFrame = header >>> 20 === 0xfff && ((header >>> 17) & 3) === 0;
    if (!isFrame || !rate || length < headerBytes) return { samples, sampleRate, end: at, foreign: true };
    samples += 1024 * (((aac[at + 6] ?? 0) & 3) + 1);
    sampleRate = rate;
    at += length;
  }
  return { samples, sampleRate, end: at, foreign: false };
};

/** True if the bytes end inside a frame. */
export const isTruncatedAdts = (bytes: Buffer): boolean => {
  const { sampleRate, end, foreign } = adtsFrames(bytes);
  return sampleRate !== undefined && !foreign && end !== bytes.length;
};

/** ADTS does not state the encoder's delay, so the length includes it. */
export const measureAdts = (aac: Buffer): AudioLength | undefined => {
  const { samples, sampleRate } = adtsFrames(aac);
  return sampleRate === undefined ? undefined : { samples, sampleRate };
};
