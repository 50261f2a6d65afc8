import type { Claim } from "../../async/claim.ts";
import type { AudioFormat } from "../../domain/synthesis/formats.ts";

/** Makes a sound that can be served out of raw samples. */
export interface Encoder {
  /** What the bytes depend on beside the samples: part of every recipe. */
  readonly version: string;
  /**
   * The samples (s16le, mono, at `sampleRate` Hz) in the format, as it comes; the same bytes for the same samples,
   * whatever their chunks. Never cut and never empty; a wav's header does not tell its length. Abort ends the work
   * at once: the reading throws the signal's reason. `claim`: who waits for the sound.
   * @throws {EngineFailed} the samples are none; what `pcm` throws, as it is
   * @throws {Unavailable} the encoder failed, which another voice would not help
   * @throws {Interrupted} the encoder was killed
   */
  encode(
    format: AudioFormat,
    sampleRate: number,
    pcm: AsyncIterable<Buffer>,
    signal: AbortSignal,
    claim?: Claim,
  ): AsyncIterable<Buffer>;
}
