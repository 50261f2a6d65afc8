import type { AudioFormat } from "../domain/speech.ts";

/** Makes a sound that can be served out of raw samples. */
export interface Encoder {
  /** What the bytes depend on beside the samples: part of every recipe. */
  readonly version: string;
  /**
   * The samples (s16le, mono, at `sampleRate` Hz) in the format, as it comes; the same bytes for the same samples,
   * whatever their chunks. Never cut and never empty. Abort ends the work at once: the reading throws the signal's reason.
   * @throws {EngineFailed} the samples are none, or cannot be encoded; what `pcm` throws, as it is
   */
  encode(
    format: AudioFormat,
    sampleRate: number,
    pcm: AsyncIterable<Buffer>,
    signal: AbortSignal,
  ): AsyncIterable<Buffer>;
}
