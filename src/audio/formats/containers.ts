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
  /** Only the containers of formats with `hasLengthInHeader` have this member. */
  readonly sizes?: {
    /**
     * Replaces unknown sizes in the header by the true ones. May change `bytes`. Returns the same
     * number of bytes.
     */
    readonly fix: (bytes: Buffer) => Buffer;
    /**
     * Replaces the sizes in the header by unknown ones. `start`: the first bytes of the audio.
     * Returns the same number of bytes.
     */
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

/** Reads samples without a header. Their sample rate is that of the format. */
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

/** Returns complete audio with the true sizes in its header. May change `bytes`. */
export const fixSizes = (format: AudioFormat, bytes: Buffer): Buffer =>
  containerOf(format).sizes?.fix(bytes) ?? bytes;

/** The longest header that an encoder writes: 44 bytes in WAV, 42 in FLAC. */
const headerBytes = 44;

/**
 * Returns audio as streams send it: without sizes in its header, even if they are known because the
 * audio was synthesized before. All other bytes are unchanged.
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
 * True if the bytes end inside a frame or page, or before the end that the WAV header declares.
 * Unknown content counts as complete. Only `hasDeclaredLength` finds audio that ends too early
 * between two frames.
 */
export const isTruncated = (format: AudioFormat, bytes: Buffer): boolean =>
  containerOf(format).isTruncated(bytes);

/** Returns the length of complete audio; undefined if the bytes are not in this format. */
export const measureAudio = (format: AudioFormat, bytes: Buffer): AudioLength | undefined =>
  containerOf(format).measure(bytes, formats[format]);

/**
 * If a format does not support the sample rate, ffmpeg resamples the audio, and may add or drop
 * this many samples.
 */
const resamplerSamples = 64;

/** True if the measured length of encoded audio fits the declared length of the encoder's input. */
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
