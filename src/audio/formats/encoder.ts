import type { ReservedSlot } from "../../async/scheduler/reserved-slot.ts";
import type { Waiter } from "../../async/scheduler/waiter.ts";
import type { AudioFormat } from "../../domain/synthesis/formats.ts";
import type { Decode } from "../../engines/engine.ts";

/** Decodes audio like `Decode`, once `waiter` has a slot. */
export type Decoder = (
  ...[audio, container, signal, waiter]: [
    ...Parameters<Decode>,
    /** The waiter for the audio. */ waiter?: Waiter,
  ]
) => AsyncIterable<Buffer>;

/** Encodes raw samples. */
export interface Encoder {
  /**
   * Names everything on which the bytes in this format depend, except the samples. Recipes contain
   * it.
   */
  version(format: AudioFormat): string;
  /**
   * Encodes s16le mono samples at `sampleRate` Hz as they arrive. The same samples give the same
   * bytes, however they are divided into chunks. The output is never truncated or empty. The header
   * of a WAV has no length. If the signal is aborted, the output throws its reason at once.
   * @throws {EngineFailed} there are no samples
   * @throws {Unavailable} the encoder failed, and another voice would not help
   * @throws {Interrupted} the encoder was killed
   * @throws errors of `pcm`, unchanged
   */
  encode(
    format: AudioFormat,
    sampleRate: number,
    pcm: AsyncIterable<Buffer>,
    signal: AbortSignal,
    options?: EncodeOptions,
  ): AsyncIterable<Buffer>;
  /**
   * A local engine may encode its audio itself. In this case `encode` is not called, and this
   * observes the encoder that the engine uses.
   */
  observe?(format: AudioFormat, signal: AbortSignal): EncoderUse;
  /**
   * Reserves a slot for a long response, before its first piece is spoken. Resolves with undefined
   * if the response is short, or the format has no encoder.
   * @throws {Unavailable} no slot was free in time
   * @throws the signal's reason
   */
  reserve(format: AudioFormat, signal: AbortSignal, waiter?: Waiter): Promise<ReservedSlot | undefined>;
}

/**
 * One use of an encoder by an engine. Of `succeeded`, `failed` and `ignored`, only the first call
 * counts.
 */
export interface EncoderUse {
  /**
   * The encoder has received its first samples. Without this call, the engine has used no encoder.
   */
  started(sampleRate: number): void;
  /** The first encoded byte has arrived. */
  firstByte(): void;
  succeeded(): void;
  /** The audio failed. If the error is {Unavailable}, its encoder failed. */
  failed(error: unknown): void;
  /** The reader of the audio has disconnected. */
  ignored(): void;
}

export interface EncodeOptions {
  /** The waiter for the audio. */
  readonly waiter?: Waiter | undefined;
  /** The slot that `reserve` returned. */
  readonly slot?: ReservedSlot | undefined;
  /** False if no client reads the audio before it is complete. Default: true. */
  readonly progressive?: boolean;
}
