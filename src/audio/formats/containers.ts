import {
  type AudioFormat,
  type Container,
  type FormatTraits,
  formats,
  isEncoded,
} from "../../domain/synthesis/formats.ts";
import { isTruncatedAdts, measureAdts } from "./adts.ts";
import type { AudioLength } from "./audio-length.ts";
import { fixFlacSize, isTruncatedFlac, measureFlac, withoutFlacSize } from "./flac.ts";
import { isTruncatedMpeg, measureMpeg } from "./mpeg.ts";
import { isTruncatedOgg, measureOgg } from "./ogg.ts";
import { fixWavSizes, isTruncatedWav, measureWav, withoutWavSizes } from "./wav.ts";

interface ContainerReader {
  readonly isTruncated: (bytes: Buffer) => boolean;
  readonly measure: (bytes: Buffer, format: FormatTraits) => AudioLength | undefined;
  /** Only formats with `hasLengthInHeader` have it. */
  readonly sizes?: {
    /**
     * Puts true sizes in a header that was written before they were known. The result is as long as
     * the bytes, which may be changed.
     */
    readonly fix: (bytes: Buffer) => Buffer;
    /** Removes them from audio that begins with these bytes. The result is as long as they are. */
    readonly clear: (start: Buffer) => Buffer;
  };
}

const containers: Readonly<Record<Container, ContainerReader>> = {
  mpeg: { isTruncated: isTruncatedMpeg, measure: measureMpeg },
  ogg: { isTruncated: isTruncatedOgg, measure: measureOgg },
  wav: {
    isTruncated: isTruncatedWav,
    measure: measureWav,
    sizes: { fix: fixWavSizes, clear: withoutWavSizes },
  },
  flac: {
    isTruncated: isTruncatedFlac,
    measure: measureFlac,
    sizes: { fix: fixFlacSize, clear: withoutFlacSize },
  },
  adts: { isTruncated: isTruncatedAdts, measure: measureAdts },
  samples: rawSamples(2),
  bytes: rawSamples(1),
};

/** Samples without a header, which have the rate of their format. */
function rawSamples(bytesPerSample: number): ContainerReader {
  return {
    isTruncated: ({ length }) => length % bytesPerSample !== 0,
    measure: ({ length }, { sampleRate = 0 }) => ({
      samples: Math.floor(length / bytesPerSample),
      sampleRate,
    }),
  };
}

const containerOf = (format: AudioFormat): ContainerReader => containers[formats[format].container];

/** The complete audio, with the true sizes in its header. The bytes may be changed. */
export const fixSizes = (format: AudioFormat, bytes: Buffer): Buffer =>
  containerOf(format).sizes?.fix(bytes) ?? bytes;

/** Enough for the headers of the encoders: 44 bytes in WAV, 42 in FLAC. */
const headerBytes = 44;

/**
 * The audio as a stream has it: without sizes in its header, also where they are known because it
 * was synthesized before. Other bytes are unchanged.
 */
export const withoutSizes = (format: AudioFormat, audio: AsyncIterable<Buffer>): AsyncIterable<Buffer> => {
  const { sizes } = containerOf(format);
  return sizes ? clearSizes(audio, sizes.clear) : audio;
};

async function* clearSizes(
  audio: AsyncIterable<Buffer>,
  clear: (start: Buffer) => Buffer,
): AsyncGenerator<Buffer> {
  let start: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of audio) {
    if (!start) yield chunk;
    else {
      start = Buffer.concat([start, chunk]);
      if (start.length < headerBytes) continue;
      yield clear(start);
      start = undefined;
    }
  }
  if (start) yield start;
}

/**
 * True if the bytes end inside a frame or page, or before the length in the WAV header. Unknown
 * content counts as complete. Audio that ends between two frames is found by its length only
 * (`hasDeclaredLength`).
 */
export const isTruncated = (format: AudioFormat, bytes: Buffer): boolean =>
  containerOf(format).isTruncated(bytes);

/** The length of complete audio; undefined if its bytes cannot be read. */
export const measureAudio = (format: AudioFormat, bytes: Buffer): AudioLength | undefined =>
  containerOf(format).measure(bytes, formats[format]);

/**
 * ffmpeg's resampler may add or drop this many samples, for a rate that the format does not
 * support.
 */
const resamplerSamples = 64;

/**
 * True if audio of the `measured` length has all of the encoder's input, which was of the
 * `declared` length.
 */
export const hasDeclaredLength = (
  format: AudioFormat,
  measured: AudioLength,
  declared: AudioLength,
): boolean => {
  const { sampleRate } = measured;
  const expected = Math.round((declared.samples * sampleRate) / declared.sampleRate);
  const extra = measured.samples - expected;
  const [min, max] = isEncoded(format) ? formats[format].encoder.padding : [0, 0];
  const tolerance = sampleRate === declared.sampleRate ? 0 : resamplerSamples;
  return extra >= min - tolerance && extra <= max + tolerance;
};
