import { readMpegFrame } from "../../domain/synthesis/mpeg-frame.ts";
import type { AudioLength } from "./audio-length.ts";

/** The result of walking the frames of audio. */
export interface Frames {
  readonly samples: number;
  /** The sample rate of the last frame, in Hz; undefined without frames. */
  readonly sampleRate: number | undefined;
  /** The end of the last frame; beyond the bytes if it is truncated. */
  readonly end: number;
  /** True if a tag or unknown bytes follow the last frame. */
  readonly foreign: boolean;
}

/**
 * Walks the frames after an ID3v2 tag. `samples`: the number that a gapless decoder plays, without
 * the delay and padding that the encoder's tag states.
 */
const mpegFrames = (mp3: Buffer): Frames & { readonly frames: number } => {
  let [frames, at] = [0, afterId3(mp3)];
  let samples = -unplayedSamples(mp3.subarray(at));
  let sampleRate: number | undefined;
  while (at + 4 <= mp3.length) {
    const frame = readMpegFrame(mp3.readUInt32BE(at));
    if (!frame) return { frames, samples, sampleRate, end: at, foreign: true };
    at += frame.length;
    samples += frame.samples;
    sampleRate = frame.sampleRate;
    frames++;
  }
  return { frames, samples, sampleRate, end: at, foreign: false };
};

/**
 * Returns the number of samples that a Xing or Info tag in the first frame excludes from playback:
 * those of this frame and, if the tag has LAME's extension, the encoder delay and the padding,
 * which have 12 bits each. Libavformat writes the same extension.
 */
const unplayedSamples = (frames: Buffer): number => {
  if (frames.length < 200) return 0;
  const header = frames.readUInt32BE(0);
  const samples = readMpegFrame(header)?.samples ?? 0;
  const [mono, mpeg1] = [((header >>> 6) & 3) === 3, samples === 1152];
  const tag = frames.subarray(4 + (mpeg1 ? (mono ? 17 : 32) : mono ? 9 : 17));
  if (samples === 0 || !/^(Xing|Info)$/.test(tag.toString("latin1", 0, 4))) return 0;
  const fields = tag.readUInt32BE(4);
  const bytesOf = (field: number, bytes: number): number => (fields & field ? bytes : 0);
  const extension = tag.subarray(8 + bytesOf(1, 4) + bytesOf(2, 4) + bytesOf(4, 100) + bytesOf(8, 4));
  if (extension.length < 24 || !/^(LAME|Lavf|Lavc)$/.test(extension.toString("latin1", 0, 4))) return samples;
  const delays = extension.readUIntBE(21, 3);
  return samples + (delays >>> 12) + (delays & 0xfff);
};

/**
 * Returns the end of an ID3v2 tag; 0 without one. Its length is stored in four bytes of seven bits.
 */
export const afterId3 = (bytes: Buffer): number => {
  if (bytes.length < 10 || bytes.toString("latin1", 0, 3) !== "ID3") return 0;
  return 10 + bytes.subarray(6, 10).reduce((size, byte) => size * 128 + (byte & 0x7f), 0);
};

/**
 * True if the bytes end inside a frame. Audio of a single frame, or with a tag after the last
 * frame, counts as complete.
 */
export const isTruncatedMpeg = (bytes: Buffer): boolean => {
  const { frames, end, foreign } = mpegFrames(bytes);
  if (foreign || end === bytes.length || frames < 2) return false;
  return end > bytes.length || bytes[end] === 0xff;
};

export const measureMpeg = (mp3: Buffer): AudioLength | undefined => {
  const { samples, sampleRate } = mpegFrames(mp3);
  return sampleRate === undefined ? undefined : { samples: Math.max(0, samples), sampleRate };
};
