import { EngineFailed } from "../domain/errors.ts";
import type { Recipe } from "../domain/recipe.ts";
import { type AudioFormat, type Knob, normalProsody, type Prosody } from "../domain/speech.ts";
import type { Engine, Speech, SpeechRequest } from "../engines/engine.ts";
import { type Clock, withDeadline } from "./clock.ts";
import { isCut } from "./cut-sound.ts";
import type { Encoder } from "./encoder.ts";
import { mendWav } from "./wav.ts";

export interface SynthesisParts {
  /** The engine that the recipe names, for whom it names; undefined when there is none (any more). */
  readonly engines: (recipe: Recipe) => Engine | undefined;
  readonly encoder: Encoder;
  readonly clock: Clock;
  /** From asking the engine to the last encoded byte. */
  readonly deadlineMs: number;
  readonly maxObjectBytes: number;
}

export interface Spoken {
  readonly recipe: Recipe;
  /** Whether the text is an SSML document: a matter of the text alone, so that the recipe need not hold it. */
  readonly ssml: boolean;
}

/**
 * The whole sound of a recipe, made anew, in the recipe's format: never empty, never cut.
 * @throws {EngineFailed} the engine failed, was too slow, or what it gave is no whole sound of the format
 */
export type Synthesize = (spoken: Spoken, signal: AbortSignal) => Promise<Buffer>;

export const createSynthesis = (parts: SynthesisParts): Synthesize => {
  const { engines, encoder, clock, deadlineMs, maxObjectBytes } = parts;

  const speak = async (spoken: Spoken, signal: AbortSignal): Promise<Buffer> => {
    const { recipe } = spoken;
    const engine = engines(recipe);
    if (!engine) throw new EngineFailed(`The engine ${recipe.engine} is not there.`);
    const speech = await engine.synthesize(speechRequest(spoken), signal);
    signal.throwIfAborted(); // no encoder for what nobody waits for
    const sound = await collect(inFormat(speech, recipe.format, encoder, signal), maxObjectBytes);
    return checked(recipe.format, sound);
  };

  return (spoken, signal) => {
    const late = () =>
      new EngineFailed(`The engine ${spoken.recipe.engine} did not finish within ${deadlineMs / 1000} s.`);
    return withDeadline({ clock, ms: deadlineMs, late, signal }, (both) => speak(spoken, both));
  };
};

/** Exactly what the hash covers: the same recipe must ask the same of the engine, however the request was worded. */
const speechRequest = ({ recipe, ssml }: Spoken): SpeechRequest => ({
  text: recipe.text.normalize("NFC"),
  ssml,
  voice: recipe.voice,
  lang: recipe.lang,
  prosody: appliedOnly(recipe),
  format: recipe.format,
});

const appliedOnly = ({ prosody, applied }: Recipe): Prosody => {
  const value = (knob: Knob): number => (applied.includes(knob) ? prosody : normalProsody)[knob];
  return { pitch: value("pitch"), rate: value("rate"), volume: value("volume") };
};

const inFormat = (
  { encoding, audio }: Speech,
  format: AudioFormat,
  encoder: Encoder,
  signal: AbortSignal,
): AsyncIterable<Buffer> => {
  if (encoding.kind === "pcm") return encoder.encode(format, encoding.sampleRate, audio, signal);
  if (encoding.format === format) return audio;
  throw new EngineFailed(`The engine gave ${encoding.format} where ${format} was asked for.`);
};

const collect = async (audio: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of audio) {
    size += chunk.length;
    if (size > maxBytes) throw new EngineFailed(`The sound is larger than ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
};

const checked = (format: AudioFormat, sound: Buffer): Buffer => {
  if (sound.length === 0) throw new EngineFailed("The engine gave no sound.");
  const whole = format === "wav" ? mendWav(sound) : sound;
  if (isCut(format, whole)) throw new EngineFailed("The sound stops before its end.");
  return whole;
};
