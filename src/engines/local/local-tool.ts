import type { Knob } from "../../domain/synthesis/speech.ts";
import type { SlotOptions } from "../../subprocess/subprocess-host.ts";
import type { SpeechRequest } from "../engine.ts";
import type { Samples } from "../pcm/read-samples.ts";

/** A speech tool of this machine, behind whatever engine codes. Voices are its own names, without its prefix. */
export interface LocalTool {
  /** Before the colon of a SystemVoice's voiceName. */
  readonly prefix: string;
  readonly version: string;
  /** Whether it has the voice. What is asked with any other voice never reaches the tool. */
  has(voice: string): boolean;
  knobs(voice: string): readonly Knob[];
  readonly takesSsml: boolean;
  /**
   * How much a text without markup asks of the tool, in letters of plain prose. The weight of a text is the sum of its
   * parts' weights.
   */
  cost(text: string): number;
  /**
   * Speaks one piece of a text.
   * @throws {ToolFailed} {EngineFailed} {Invalid} {Unavailable}, or the signal's reason; so may the samples
   */
  speak(request: SpeechRequest, signal: AbortSignal, turn: SlotOptions): Promise<Samples>;
}
