import { EngineFailed, Interrupted } from "../domain/errors.ts";
import type { Recipe } from "../domain/recipe.ts";
import { type AudioFormat, type Knob, normalProsody, type Prosody } from "../domain/speech.ts";
import type { Engine, Speech, SpeechRequest } from "../engines/engine.ts";
import { isCut } from "./cut-sound.ts";
import type { Encoder } from "./encoder.ts";
import type { Log } from "./log.ts";
import { mendWav } from "./wav.ts";

export interface SpeakerParts {
  /** The engine that the recipe names, for whom it names; undefined when there is none (any more). */
  readonly engines: (recipe: Recipe) => Engine | undefined;
  readonly encoder: Encoder;
  readonly log: Log;
  readonly maxObjectBytes: number;
}

export interface Spoken {
  readonly recipe: Recipe;
  /** Whether the text is an SSML document: a matter of the text alone, so that the recipe need not hold it. */
  readonly ssml: boolean;
}

/**
 * The whole sound of a recipe, made anew, in the recipe's format: never empty, never cut. What is interrupted is begun
 * once more. Nothing is left running when it is settled.
 * @throws {EngineFailed} the engine failed, was too slow, or what it gave is no whole sound of the format
 * @throws {Invalid} the text has nothing in it that can be spoken
 * @throws {Unavailable} no turn in time, no encoder, or interrupted twice
 */
export type Speak = (spoken: Spoken, signal: AbortSignal) => Promise<Buffer>;

export const createSpeaker = ({ engines, encoder, log, maxObjectBytes }: SpeakerParts): Speak => {
  const make = async (spoken: Spoken, signal: AbortSignal): Promise<Buffer> => {
    const { recipe } = spoken;
    const engine = engines(recipe);
    if (!engine) throw new EngineFailed(`The engine ${recipe.engine} is not there.`);
    const speech = await engine.synthesize(speechRequest(spoken), signal);
    signal.throwIfAborted(); // no encoder for what nobody waits for
    const sound = await collect(inFormat(speech, recipe.format, encoder, signal), maxObjectBytes);
    return checked(recipe.format, sound);
  };

  const attempt = async (spoken: Spoken, signal: AbortSignal): Promise<Buffer> => {
    const over = new AbortController();
    try {
      return await make(spoken, AbortSignal.any([signal, over.signal]));
    } finally {
      over.abort(settled);
    }
  };

  return (spoken, signal) =>
    attempt(spoken, signal).catch((error: unknown) => {
      if (!(error instanceof Interrupted)) throw error;
      const { engine, voice } = spoken.recipe;
      log.warn({ engine, voice }, "A synthesis was interrupted: it is begun once more.");
      return attempt(spoken, signal);
    });
};

const settled = new Error("It is over: nothing of it is wanted any more.");

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
