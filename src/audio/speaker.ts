import { EngineFailed } from "../domain/errors.ts";
import type { Recipe } from "../domain/recipe.ts";
import { type AudioFormat, type Knob, normalProsody, type Prosody } from "../domain/speech.ts";
import type { Engine, Speech, SpeechRequest } from "../engines/engine.ts";
import { isCut } from "./cut-sound.ts";
import type { Encoder } from "./encoder.ts";
import { mendWav } from "./wav.ts";

export interface SpeakerParts {
  /** The engine that the recipe names, for whom it names; undefined when there is none (any more). */
  readonly engines: (recipe: Recipe) => Engine | undefined;
  readonly encoder: Encoder;
  readonly maxObjectBytes: number;
}

export interface Spoken {
  readonly recipe: Recipe;
  /** Whether the text is an SSML document: a matter of the text alone, so that the recipe need not hold it. */
  readonly ssml: boolean;
}

export interface SpeakerOptions extends Pick<SpeechRequest, "onTurn"> {
  readonly progressive: boolean;
}

export interface Speaker {
  /**
   * The sound of a recipe, made anew, in the recipe's format, as it comes.
   * @throws {EngineFailed} the engine failed, was too slow, gave another format, or more than an object may hold
   * @throws {Invalid} the text has nothing in it that can be spoken
   * @throws {Unavailable} no turn in time, or no encoder @throws {Interrupted} it may be begun once more
   */
  speak(spoken: Spoken, options: SpeakerOptions, signal: AbortSignal): AsyncIterable<Buffer>;
  /**
   * What was spoken, once it is whole: with its true sizes in its header.
   * @throws {EngineFailed} it is empty, or stops before its end
   */
  finish(format: AudioFormat, sound: Buffer): Buffer;
}

export const createSpeaker = ({ engines, encoder, maxObjectBytes }: SpeakerParts): Speaker => ({
  speak: async function* (spoken, { progressive, onTurn }, signal) {
    const { recipe } = spoken;
    const engine = engines(recipe);
    if (!engine) throw new EngineFailed(`The engine ${recipe.engine} is not there.`);
    const request = {
      ...speechRequest(spoken),
      ...(progressive && { progressive }),
      ...(onTurn && { onTurn }),
    };
    const speech = await engine.synthesize(request, signal);
    signal.throwIfAborted(); // no encoder for what nobody waits for
    let size = 0;
    for await (const chunk of inFormat(speech, recipe.format, encoder, signal)) {
      size += chunk.length;
      if (size > maxObjectBytes) throw new EngineFailed(`The sound is larger than ${maxObjectBytes} bytes.`);
      yield chunk;
    }
  },
  finish: (format, sound) => {
    if (sound.length === 0) throw new EngineFailed("The engine gave no sound.");
    const whole = format === "wav" ? mendWav(sound) : sound;
    if (isCut(format, whole)) throw new EngineFailed("The sound stops before its end.");
    return whole;
  },
});

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
