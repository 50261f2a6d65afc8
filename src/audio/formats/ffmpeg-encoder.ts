import { tap } from "../../async/tap.ts";
import { EngineFailed, Interrupted, Unavailable } from "../../domain/errors.ts";
import { type EncodedFormat, type FormatTraits, formats, isEncoded } from "../../domain/synthesis/formats.ts";
import { unknownSize, wavHeader } from "../../domain/synthesis/wav-header.ts";
import { completeMs, type SubprocessHost, streamMs } from "../../subprocess/subprocess-host.ts";
import { ToolFailed } from "../../subprocess/tools.ts";
import type { EncodeOptions, Encoder } from "./encoder.ts";

/**
 * Encodes audio with ffmpeg. A format without an encoder is a WAV header, followed by the samples.
 * The header has no length, because it is sent before the number of samples is known.
 * @throws {ToolFailed} ffmpeg is not installed
 */
export const ffmpegEncoder = (host: SubprocessHost): Encoder => {
  const version = host.versions.ffmpeg;
  if (version === undefined) throw new ToolFailed("missing", "ffmpeg is not installed.");
  return {
    version: (format) => {
      const { version: own = 1 }: FormatTraits = formats[format];
      return isEncoded(format) ? `ffmpeg ${version}; ${format} ${own}` : `${format} ${own}`;
    },
    encode: (format, sampleRate, pcm, signal, options) =>
      isEncoded(format)
        ? compressed(host, { format, sampleRate, pcm: notEmpty(pcm), ...options }, signal)
        : streamedWav(sampleRate, notEmpty(pcm), signal),
    // As below: the provider's work is done.
    reserve: async (format, signal, waiter) =>
      isEncoded(format) ? await host.reserveEncoder(signal, waiter, { isContinuation: true }) : undefined,
  };
};

async function* compressed(
  host: SubprocessHost,
  audio: EncodeOptions & { format: EncodedFormat; sampleRate: number; pcm: AsyncIterable<Buffer> },
  signal: AbortSignal,
): AsyncIterable<Buffer> {
  try {
    const { format, sampleRate, pcm, waiter, slot, progressive = true } = audio;
    // The tool that speaks holds a slot already. Its work would be wasted if the encoder were
    // refused a slot now.
    const slotOptions = { waiter, isContinuation: true };
    const input = endlessWav(sampleRate, pcm);
    const deadlineMs = progressive ? streamMs : completeMs;
    yield* host.encode({ format, sampleRate, input, deadlineMs }, signal, slotOptions, slot);
  } catch (error) {
    if (!(error instanceof ToolFailed)) throw error;
    if (error.interrupted) throw new Interrupted({ cause: error });
    throw new Unavailable("The audio could not be encoded.", 5, { cause: error });
  }
}

/**
 * The header of the input states the sample rate, so that an idle encoder process fits every rate.
 */
async function* endlessWav(sampleRate: number, pcm: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  yield wavHeader(sampleRate, unknownSize);
  yield* pcm;
}

/** Yields the header when the first samples arrive, not earlier. Drops half a sample at the end. */
async function* streamedWav(
  sampleRate: number,
  pcm: AsyncIterable<Buffer>,
  signal: AbortSignal,
): AsyncIterable<Buffer> {
  let odd: Buffer = Buffer.alloc(0);
  let header: Buffer | undefined = wavHeader(sampleRate, unknownSize);
  for await (const chunk of pcm) {
    signal.throwIfAborted();
    const bytes = odd.length === 0 ? chunk : Buffer.concat([odd, chunk]);
    const whole = bytes.length - (bytes.length % 2);
    odd = bytes.subarray(whole);
    if (whole === 0) continue;
    if (header) yield header;
    header = undefined;
    yield bytes.subarray(0, whole);
  }
}

/** Throws if there are no samples: encoders would return a header or a moment of silence. */
const notEmpty = (pcm: AsyncIterable<Buffer>): AsyncIterable<Buffer> => {
  let size = 0;
  return tap(pcm, {
    onChunk: (chunk) => {
      size += chunk.length;
    },
    onEnd: () => {
      if (size === 0) throw new EngineFailed("There is no audio to encode.");
    },
  });
};
