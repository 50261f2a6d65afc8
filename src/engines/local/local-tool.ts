import type { Knob } from "../../domain/synthesis/speech.ts";
import type { SlotOptions } from "../../subprocess/subprocess-host.ts";
import type { SpeechRequest } from "../engine.ts";
import type { Samples } from "../pcm/read-samples.ts";

/** A speech tool of this machine. Voices are its own names, without the prefix. */
export interface LocalTool {
  /** Before the colon of SystemVoice.voiceName. */
  readonly prefix: string;
  readonly version: string;
  /** True if it has the voice. Requests for other voices never reach the tool. */
  has(voice: string): boolean;
  knobs(voice: string): readonly Knob[];
  readonly takesSsml: boolean;
  /**
   * The effort for a text without markup, in letters of plain prose. Additive: the cost of a text is the sum of its
   * parts.
   */
  cost(text: string): number;
  /**
   * Synthesizes one piece of a text. @throws {ToolFailed} {EngineFailed} {Invalid} {Unavailable}, or the signal's
   * reason; the samples may throw the same
   */
  speak(request: SpeechRequest, signal: AbortSignal, turn: SlotOptions): Promise<Samples>;
}
