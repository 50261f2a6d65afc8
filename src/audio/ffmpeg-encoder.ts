import { EngineFailed, Interrupted, Unavailable } from "../domain/errors.ts";
import type { SubprocessHost } from "../subprocess/subprocess-host.ts";
import { type EncodedFormat, ToolFailed } from "../subprocess/tools.ts";
import type { Encoder } from "./encoder.ts";
import { endlessSize, wavHeader } from "./wav-header.ts";

const maxWavBytes = 128 * 1024 * 1024;

/**
 * mp3: 64 kbit/s, constant, no tags; ogg: Vorbis; wav: the samples themselves behind a true header.
 * @throws {ToolFailed} when there is no ffmpeg
 */
export const ffmpegEncoder = (host: SubprocessHost): Encoder => {
  const version = host.versions.ffmpeg;
  if (version === undefined) throw new ToolFailed("missing", "ffmpeg is not installed.");
  return {
    version: `ffmpeg ${version}`,
    encode: (format, sampleRate, pcm, signal) =>
      format === "wav"
        ? wholeWav(sampleRate, notEmpty(pcm), signal)
        : compressed(host, { format, sampleRate, pcm: notEmpty(pcm) }, signal),
  };
};

async function* compressed(
  host: SubprocessHost,
  sound: { format: EncodedFormat; sampleRate: number; pcm: AsyncIterable<Buffer> },
  signal: AbortSignal,
): AsyncIterable<Buffer> {
  try {
    yield* host.encode({ format: sound.format, input: endlessWav(sound.sampleRate, sound.pcm) }, signal);
  } catch (error) {
    if (!(error instanceof ToolFailed)) throw error;
    if (error.interrupted) throw new Interrupted({ cause: error });
    throw new Unavailable("The sound could not be encoded.", 5, { cause: error });
  }
}

/** With the header as the first bytes one encoder, started ahead, does for every sample rate. */
async function* endlessWav(sampleRate: number, pcm: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  yield wavHeader(sampleRate, endlessSize);
  yield* pcm;
}

async function* wholeWav(
  sampleRate: number,
  pcm: AsyncIterable<Buffer>,
  signal: AbortSignal,
): AsyncIterable<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of pcm) {
    signal.throwIfAborted();
    size += chunk.length;
    if (size > maxWavBytes) throw new EngineFailed("The sound is too long for a WAV.");
    chunks.push(chunk);
  }
  const whole = size - (size % 2);
  yield wavHeader(sampleRate, whole);
  yield Buffer.concat(chunks, whole);
}

/** Encoders make something of nothing: a header, a moment of silence. */
async function* notEmpty(pcm: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let size = 0;
  for await (const chunk of pcm) {
    size += chunk.length;
    yield chunk;
  }
  if (size === 0) throw new EngineFailed("There is no sound to encode.");
}
