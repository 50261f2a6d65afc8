import type { AudioFormat } from "../../domain/synthesis/speech.ts";
import { mpegFrames } from "./mpeg-frames.ts";
import { oggPages } from "./ogg-pages.ts";
import { isTruncatedWav } from "./wav.ts";

/**
 * Whether the sound demonstrably stops short: inside an MPEG frame, an Ogg page, or before the length that a WAV
 * header declares. Formats and tags that it cannot read count as whole. A cut exactly between two frames shows only in
 * the length of the sound (sound-length.ts).
 */
export const isTruncated = (format: AudioFormat, bytes: Buffer): boolean => cutBy[format](bytes);

const isTruncatedMp3 = (bytes: Buffer): boolean => {
  const { frames, end, foreign } = mpegFrames(bytes);
  if (foreign || end === bytes.length || frames < 2) return false;
  return end > bytes.length || bytes[end] === 0xff;
};

const isTruncatedOgg = (bytes: Buffer): boolean => {
  const { end, foreign } = oggPages(bytes);
  return !foreign && end > bytes.length;
};

const cutBy: Readonly<Record<AudioFormat, (bytes: Buffer) => boolean>> = {
  mp3: isTruncatedMp3,
  ogg: isTruncatedOgg,
  wav: isTruncatedWav,
};
