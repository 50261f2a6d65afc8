import type { AudioFormat } from "../../domain/synthesis/speech.ts";
import { mpegFrames } from "./mpeg-frames.ts";
import { oggPages } from "./ogg-pages.ts";
import { findChunk, isUnknownSize } from "./wav.ts";

/** How long a sound is. Seconds are `samples / sampleRate`. */
export interface SoundLength {
  readonly samples: number;
  /** In Hz. */
  readonly sampleRate: number;
}

/** The length of a whole sound, measured from its bytes; undefined if they cannot be read. */
export const measureSound = (format: AudioFormat, bytes: Buffer): SoundLength | undefined =>
  measureBy[format](bytes);

/**
 * Whether an encoder that was given sound of the `declared` length has encoded all of it. Vorbis and WAV keep the exact
 * number of samples; LAME adds its delay (576 samples), the decoder's (529), and fills its last frames.
 */
export const hasDeclaredLength = (format: AudioFormat, bytes: Buffer, declared: SoundLength): boolean => {
  const measured = measureSound(format, bytes);
  if (!measured) return false;
  const { sampleRate } = measured;
  const expected = Math.round((declared.samples * sampleRate) / declared.sampleRate);
  const extra = measured.samples - expected;
  const [least, most] = format === "mp3" ? mp3Padding : [0, 0];
  const resampled = sampleRate === declared.sampleRate ? 0 : resamplerSamples;
  return extra >= least - resampled && extra <= most + resampled;
};

const mp3Padding: readonly [least: number, most: number] = [1105, 1105 + 2 * 1152];
/** What ffmpeg's resampler may add or keep, for a rate that the format does not have. */
const resamplerSamples = 64;

const measureMp3 = (mp3: Buffer): SoundLength | undefined => {
  const { samples, sampleRate } = mpegFrames(mp3);
  return sampleRate === undefined ? undefined : { samples: Math.max(0, samples), sampleRate };
};

/** The first page holds one packet: Vorbis I section 4.2.2, or RFC 7845 section 5.1, at 48 kHz whatever its input was. */
const measureOgg = (ogg: Buffer): SoundLength | undefined => {
  const { granules } = oggPages(ogg);
  if (ogg.length < 48) return undefined;
  if (ogg.toString("latin1", 28, 35) === "\x01vorbis") {
    return { samples: granules, sampleRate: ogg.readUInt32LE(40) };
  }
  if (ogg.toString("latin1", 28, 36) !== "OpusHead") return undefined;
  return { samples: granules - ogg.readUInt16LE(38), sampleRate: 48_000 };
};

const measureWav = (bytes: Buffer): SoundLength | undefined => {
  const format = findChunk(bytes, "fmt ");
  const data = findChunk(bytes, "data");
  if (format === undefined || data === undefined) return undefined;
  const sampleRate = bytes.readUInt32LE(format + 12);
  const bytesPerSample = bytes.readUInt16LE(format + 20); // of all channels
  const declared = bytes.readUInt32LE(data + 4);
  const present = bytes.length - data - 8;
  const size = isUnknownSize(declared) ? present : Math.min(declared, present);
  if (sampleRate === 0 || bytesPerSample === 0) return undefined;
  return { samples: Math.floor(size / bytesPerSample), sampleRate };
};

const measureBy: Readonly<Record<AudioFormat, (bytes: Buffer) => SoundLength | undefined>> = {
  mp3: measureMp3,
  ogg: measureOgg,
  wav: measureWav,
};
