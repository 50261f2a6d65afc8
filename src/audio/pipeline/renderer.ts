import { tap } from "../../async/tap.ts";
import { EngineFailed } from "../../domain/errors.ts";
import { type AudioFormat, formats } from "../../domain/synthesis/formats.ts";
import type { Recipe } from "../../domain/synthesis/recipe.ts";
import { type Knob, normalProsody, type Prosody } from "../../domain/synthesis/speech.ts";
import type { Engine, Speech, SpeechRequest } from "../../engines/engine.ts";
import { hasDeclaredLength, isTruncated } from "../formats/containers.ts";
import type { Encoder } from "../formats/encoder.ts";
import type { SoundLength } from "../formats/sound.ts";
import { fixWavSizes } from "../formats/wav.ts";

export interface RendererOptions {
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

export interface RenderOptions extends Pick<SpeechRequest, "beforeStart" | "claim"> {
  readonly progressive: boolean;
}

export interface Renderer {
  /**
   * Speaks a recipe, in the recipe's format, chunk by chunk. Returns how much sound the encoder was given; undefined if
   * the engine encoded it.
   * @throws {EngineFailed} the engine failed, was too slow, gave another format, or more than an object may hold
   * @throws {Invalid} the text has nothing in it that can be spoken
   * @throws {Unavailable} no turn in time, or no encoder @throws {Interrupted} it may be begun once more
   */
  render(
    spoken: Spoken,
    options: RenderOptions,
    signal: AbortSignal,
  ): AsyncGenerator<Buffer, SoundLength | undefined>;
  /**
   * What was spoken, once it is whole: with its true sizes in its header. `declared`: what `speak` returned.
   * @throws {EngineFailed} it is empty, stops before its end, or is not of the declared length
   */
  finish(format: AudioFormat, sound: Buffer, declared?: SoundLength): Buffer;
}

export const createRenderer = ({ engines, encoder, maxObjectBytes }: RendererOptions): Renderer => ({
  render: async function* (spoken, { progressive, beforeStart, claim }, signal) {
    const { recipe } = spoken;
    const engine = engines(recipe);
    if (!engine) throw new EngineFailed(`The engine ${recipe.engine} is not there.`);
    const request = {
      ...speechRequest(spoken),
      ...(progressive && { progressive }),
      ...(beforeStart && { beforeStart }),
      ...(claim && { claim }),
    };
    const speech = await engine.synthesize(request, signal);
    signal.throwIfAborted(); // no encoder for what nobody waits for
    const { audio, declared } = inFormat(speech, recipe.format, (...asked) =>
      encoder.encode(...asked, signal, claim),
    );
    let size = 0;
    for await (const chunk of audio) {
      size += chunk.length;
      if (size > maxObjectBytes) throw new EngineFailed(`The sound is larger than ${maxObjectBytes} bytes.`);
      yield chunk;
    }
    return declared();
  },
  finish: (format, sound, declared) => {
    if (sound.length === 0) throw new EngineFailed("The engine gave no sound.");
    const whole = formats[format].container === "wav" ? fixWavSizes(sound) : sound;
    if (isTruncated(format, whole)) throw new EngineFailed("The sound stops before its end.");
    if (declared && !hasDeclaredLength(format, whole, declared)) {
      throw new EngineFailed("The encoded sound is not as long as what was spoken.");
    }
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

interface Encoded {
  readonly audio: AsyncIterable<Buffer>;
  /** After the end of `audio`: what the encoder was given. */
  readonly declared: () => SoundLength | undefined;
}

const inFormat = (
  { encoding, audio }: Speech,
  format: AudioFormat,
  encode: (format: AudioFormat, sampleRate: number, pcm: AsyncIterable<Buffer>) => AsyncIterable<Buffer>,
): Encoded => {
  if (encoding.kind === "encoded") {
    if (encoding.format === format) return { audio, declared: () => undefined };
    throw new EngineFailed(`The engine gave ${encoding.format} where ${format} was asked for.`);
  }
  const { sampleRate } = encoding;
  let bytes = 0;
  const onChunk = (chunk: Buffer): void => {
    bytes += chunk.length;
  };
  return {
    audio: encode(format, sampleRate, tap(audio, { onChunk })),
    declared: () => ({ samples: Math.floor(bytes / 2), sampleRate }),
  };
};
