import type { Claim } from "../async/claim.ts";
import type { AudioFormat } from "../domain/synthesis/formats.ts";
import type { EngineCode, Knob, Prosody } from "../domain/synthesis/speech.ts";

/** What an engine is asked to say. */
export interface SpeechRequest {
  /** Plain text, or a whole well-formed `<speak>` document that has passed `parseSsml`. Never empty. */
  readonly text: string;
  readonly ssml: boolean;
  /** The engine's own name for the voice (SystemVoice.voiceName). */
  readonly voice: string;
  /** BCP-47. */
  readonly lang: string;
  /** Knobs outside `prosody(voice)` are ignored. */
  readonly prosody: Prosody;
  readonly format: AudioFormat;
  /**
   * The first bytes are wanted as early as they can be had: an engine whose upstream answers only whole takes the text
   * in smaller pieces.
   */
  readonly progressive?: boolean;
  /**
   * Called once a turn has come, before anything is begun or asked for; what it throws is what `synthesize` or its audio
   * throws, and gives the turn back.
   */
  readonly beforeStart?: (() => Promise<void>) | undefined;
  /** Who waits for the sound: in their queues it waits for its turn. */
  readonly claim?: Claim | undefined;
}

/** Sound as it comes: raw samples for the pipeline to encode, or a container that is ready to be served. */
export type Encoding =
  | { readonly kind: "pcm" /** s16le, mono */; readonly sampleRate: number }
  | { readonly kind: "encoded"; readonly format: AudioFormat };

export interface Speech {
  readonly encoding: Encoding;
  /** Never ends well without having given at least one byte; a failure midway throws. */
  readonly audio: AsyncIterable<Buffer>;
}

/**
 * One verb: say this. An engine that cannot be reached or fails throws {EngineFailed}. If the voice cannot pronounce
 * anything of the text it throws {Unpronounceable}, and another voice may be tried; if no voice could, {Invalid}, path
 * `text`. Ended by others, it throws {Interrupted}. Its own deadline counts from its turn, and is {EngineFailed}; no
 * turn in time is {Unavailable}.
 */
export interface Engine {
  readonly code: EngineCode;
  /** What the bytes of this voice depend on beside the request (its tool's version): part of every recipe. */
  version(voice: string): string;
  /** The knobs that this engine itself applies for this voice, in stable order. */
  prosody(voice: string): readonly Knob[];
  /** Whether it takes SSML for this voice. */
  takesSsml(voice: string): boolean;
  /** Abort ends the work at once, whatever stage it is in; the iteration then throws the signal's reason. */
  synthesize(request: SpeechRequest, signal: AbortSignal): Promise<Speech>;
}
