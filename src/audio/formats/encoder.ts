import type { ReservedSlot } from "../../async/scheduler/reserved-slot.ts";
import type { Waiter } from "../../async/scheduler/waiter.ts";
import type { AudioFormat } from "../../domain/synthesis/formats.ts";
import type { Decode } from "../../engines/engine.ts";

/** Does what `Decode` does, in the queue of `waiter`. */
export type Decoder = (
  ...[audio, container, signal, waiter]: [
    ...Parameters<Decode>,
    /** The waiter for the audio. */ waiter?: Waiter,
  ]
) => AsyncIterable<Buffer>;

/** Encodes raw samples. */
export interface Encoder {
  /** Names all that the bytes in this format depend on besides the samples: part of recipes. */
  version(format: AudioFormat): string;
  /**
   * Encodes s16le mono samples at `sampleRate` Hz as they arrive. The same samples give the same
   * bytes, in whatever chunks. Never truncated or empty; the header of a wav has no length. An
   * abort ends the work at once with the signal's reason.
   * @throws {EngineFailed} there are no samples; errors of `pcm` unchanged
   * @throws {Unavailable} the encoder failed, and another voice would not help
   * @throws {Interrupted} the encoder was killed
   */
  encode(
    format: AudioFormat,
    sampleRate: number,
    pcm: AsyncIterable<Buffer>,
    signal: AbortSignal,
    options?: EncodeOptions,
  ): AsyncIterable<Buffer>;
  /** Observes an encoder of this kind that a local engine may use. */
  observe?(format: AudioFormat, signal: AbortSignal): EncoderUse;
  /**
   * Reserves a slot for a long response, before its first piece is spoken. Undefined if the
   * response is short, or the format has no encoder.
   * @throws {Unavailable} no slot in time
   * @throws the signal's reason
   */
  reserve(format: AudioFormat, signal: AbortSignal, waiter?: Waiter): Promise<ReservedSlot | undefined>;
}

/** One use of an encoder by an engine. Only the first report of its end counts. */
export interface EncoderUse {
  /** It has its first samples. Without a call, the engine has used none. */
  started(sampleRate: number): void;
  /** The first encoded byte has arrived. */
  firstByte(): void;
  succeeded(): void;
  /** The audio failed: its encoder if the error is {Unavailable}. */
  failed(error: unknown): void;
  /** Its reader has disconnected. */
  ignored(): void;
}

export interface EncodeOptions {
  /** The waiter for the audio. */
  readonly waiter?: Waiter | undefined;
  /** A slot that was reserved. */
  readonly slot?: ReservedSlot | undefined;
  /** False if no client reads the audio before it is complete. Default: true. */
  readonly progressive?: boolean;
}
