import { type AudioFormat, type Container, formats, isEncoded } from "../../domain/synthesis/formats.ts";
import { isTruncatedMpeg, measureMpeg } from "./mpeg.ts";
import { isTruncatedOgg, measureOgg } from "./ogg.ts";
import type { SoundLength } from "./sound.ts";
import { isTruncatedWav, measureWav } from "./wav.ts";

interface ContainerReader {
  readonly isTruncated: (bytes: Buffer) => boolean;
  readonly measure: (bytes: Buffer) => SoundLength | undefined;
}

const containers: Readonly<Record<Container, ContainerReader>> = {
  mpeg: { isTruncated: isTruncatedMpeg, measure: measureMpeg },
  ogg: { isTruncated: isTruncatedOgg, measure: measureOgg },
  wav: { isTruncated: isTruncatedWav, measure: measureWav },
};

const containerOf = (format: AudioFormat): ContainerReader => containers[formats[format].container];

/**
 * True if the bytes end inside an MPEG frame, an Ogg page, or before the length in the WAV header. Unknown content counts
 * as complete. A sound that ends between two frames is found by its length only (`hasDeclaredLength`).
 */
export const isTruncated = (format: AudioFormat, bytes: Buffer): boolean =>
  containerOf(format).isTruncated(bytes);

/** The length of a complete sound; undefined if its bytes cannot be read. */
export const measureSound = (format: AudioFormat, bytes: Buffer): SoundLength | undefined =>
  containerOf(format).measure(bytes);

/** What ffmpeg's resampler may add or drop, for a rate that the format does not support. */
const resamplerSamples = 64;

/** True if the encoder encoded all of its input, which was of the `declared` length. */
export const hasDeclaredLength = (format: AudioFormat, bytes: Buffer, declared: SoundLength): boolean => {
  const measured = measureSound(format, bytes);
  if (!measured) return false;
  const { sampleRate } = measured;
  const expected = Math.round((declared.samples * sampleRate) / declared.sampleRate);
  const extra = measured.samples - expected;
  const [min, max] = isEncoded(format) ? formats[format].encoder.padding : [0, 0];
  const tolerance = sampleRate === declared.sampleRate ? 0 : resamplerSamples;
  return extra >= min - tolerance && extra <= max + tolerance;
};
