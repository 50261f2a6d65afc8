import type { Waiter } from "../async/scheduler/waiter.ts";
import type { AudioFormat, DecodedContainer } from "../domain/synthesis/formats.ts";
import type { Mark } from "../domain/synthesis/marks.ts";
import type { SpokenPhoneme } from "../domain/synthesis/phonemes.ts";
import type { EngineCode, Prosody, ProsodyParameter } from "../domain/synthesis/speech.ts";
import type { WrittenText } from "../domain/text/spoken-text.ts";

/** A request to an engine. */
export interface SpeechRequest extends WrittenText {
  /** The engine's own name for the voice (SystemVoice.voiceName). */
  readonly voice: string;
  /** The language tag (BCP-47). */
  readonly lang: string;
  /** The engine ignores prosody parameters that are not in `prosody(voice)`. */
  readonly prosody: Prosody;
  readonly format: AudioFormat;
  /**
   * Instructions in words on how to speak. They are only given for a voice that
   * `takesInstructions`.
   */
  readonly instructions?: string;
  /**
   * True if the first bytes are needed early: an engine whose provider returns only complete audio
   * sends the text in smaller pieces.
   */
  readonly progressive?: boolean;
  /**
   * Called when the request has its slot, before anything is started. If it throws, the slot is
   * released and `synthesize` or its audio throws the same.
   */
  readonly beforeStart?: (() => Promise<void>) | undefined;
  /** The API keys in whose queues it waits. */
  readonly waiter?: Waiter | undefined;
  /** True if a local engine must encode its audio. If false, it returns samples. Default: false. */
  readonly encode?: boolean;
  /** Called when a local engine has the first samples to encode. */
  readonly onEncoding?: ((sampleRate: number) => void) | undefined;
  /** Decodes the audio of servers that send another container than the requested one. */
  readonly decode?: Decode;
}

/**
 * Decodes audio as it arrives to a WAV of 16-bit samples in one channel.
 * @throws {EngineFailed} if it is not audio of that container
 * @throws {Interrupted} if the decoder was killed
 * @throws {Unavailable} if there is no decoder
 * @throws the errors of `audio`
 */
export type Decode = (
  audio: AsyncIterable<Buffer>,
  container: DecodedContainer,
  signal: AbortSignal,
) => AsyncIterable<Buffer>;

/** Raw samples for the pipeline to encode, or a container that can be sent as it is. */
export type Encoding =
  | { readonly kind: "pcm" /** s16le, mono */; readonly sampleRate: number }
  | { readonly kind: "encoded"; readonly format: AudioFormat };

export interface EncodedSamples {
  readonly sampleRate: number;
  readonly samples: number;
}

export interface Speech {
  readonly encoding: Encoding;
  /** Yields at least one byte, or throws; a failure midway throws. */
  readonly audio: AsyncIterable<Buffer>;
  /**
   * Returns the samples that the service's own encoder has encoded, after the end of `audio`.
   * Undefined if another encoder has encoded them.
   */
  readonly encoded?: () => EncodedSamples | undefined;
  /** Returns the times of its words, after the end of `audio`. Undefined if they are unknown. */
  readonly marks?: () => readonly Mark[] | undefined;
  /** Returns the times of its phonemes, after the end of `audio`. By default they are unknown. */
  readonly phonemes?: () => readonly SpokenPhoneme[];
  /**
   * Seconds below which the whole audio is refused, because parts of its text are missing. Default:
   * 0.
   */
  readonly minSeconds?: number;
}

/** The version of a voice that the engine does not have. */
export const noVersion = "none";

/**
 * Synthesizes speech.
 * @throws {EngineFailed} if the engine cannot be reached, fails, or misses its own deadline, which
 * starts with its slot
 * @throws {Unpronounceable} if this voice cannot pronounce any of the text, but another may
 * @throws {Invalid} for `text`, if no voice can pronounce it
 * @throws {Interrupted} if the work was killed from outside
 * @throws {Unavailable} if no slot is free in time
 */
export interface Engine {
  readonly code: EngineCode;
  /**
   * Names what the bytes of this voice depend on besides the request. It is a part of every recipe.
   * It states the version of the voice's tool, model or API, and that of the service's own
   * preparation of text and prosody. `noVersion` if the engine does not have the voice.
   */
  version(voice: string): string;
  /**
   * False if the same request may have other bytes. Then the bytes that were stored first are
   * served. Default: true.
   */
  isExact?(voice: string): boolean;
  /** True if the same request has the same samples on every machine. Default: false. */
  isReproducible?(voice: string): boolean;
  /** The prosody parameters that this engine applies for this voice, in stable order. */
  prosody(voice: string): readonly ProsodyParameter[];
  /** True if it accepts SSML for this voice. */
  takesSsml(voice: string): boolean;
  /**
   * Lists the other voices that speak in a text for this voice: voices that a document names, and
   * voices for words in other languages and scripts.
   */
  otherVoices?(request: Pick<SpeechRequest, "text" | "ssml" | "voice" | "lang">): readonly string[];
  /** True if it takes Azure's extensions of SSML (`mstts:`) for this voice. */
  takesMstts?(voice: string): boolean;
  /** True if it pronounces the `<phoneme>` of SSML for this voice, in any alphabet of lexicons. */
  takesPhonemes?(voice: string): boolean;
  /** True if this voice follows instructions in words ("Whisper."). */
  takesInstructions?(voice: string): boolean;
  /** True if its speech in this voice has marks. */
  marks?(voice: string): boolean;
  /** True if its speech in this voice has phonemes. */
  reportsPhonemes?(voice: string): boolean;
  /** An abort ends the work at any stage; the iteration throws the signal's reason. */
  synthesize(request: SpeechRequest, signal: AbortSignal): Promise<Speech>;
}
