import type { ReservedSlot } from "../../async/scheduler/reserved-slot.ts";
import { tap } from "../../async/tap.ts";
import { EngineFailed, SpeechTooLong } from "../../domain/errors.ts";
import { isByok } from "../../domain/synthesis/byok-providers.ts";
import { type AudioFormat, type FormatTraits, formats } from "../../domain/synthesis/formats.ts";
import { formatMarks } from "../../domain/synthesis/marks.ts";
import { requireDuration } from "../../domain/synthesis/min-duration.ts";
import type { SpokenPhoneme } from "../../domain/synthesis/phonemes.ts";
import type { Recipe } from "../../domain/synthesis/recipe.ts";
import { normalProsody, type Prosody, type ProsodyParameter } from "../../domain/synthesis/speech.ts";
import type { Decode, Engine, Speech, SpeechRequest } from "../../engines/engine.ts";
import type { AudioLength } from "../formats/audio-length.ts";
import { fixSizes, hasDeclaredLength, isTruncated, measureAudio } from "../formats/containers.ts";
import type { Decoder, Encoder } from "../formats/encoder.ts";
import type { AudioContent } from "../store/audio-store.ts";
import type { Rendition } from "./audio.ts";

export interface RendererOptions {
  /** The engine of a recipe, for its website; undefined if there is none. */
  readonly engines: (recipe: Recipe) => Engine | undefined;
  readonly encoder: Encoder;
  /** Default: nothing can be decoded. */
  readonly decoder?: Decoder;
  readonly maxAudioBytes: number;
}

type RenderRequest = Pick<Rendition, "recipe" | "ssml" | "document" | "reading" | "replacements">;

/** The facts about audio that are known after its last byte. */
export interface RenderedAudio {
  /** The length of the encoder's input; undefined if the engine encoded the audio itself. */
  readonly declared?: AudioLength | undefined;
  /** The shortest duration that is accepted, in seconds. */
  readonly minSeconds?: number | undefined;
  /** The times at which its words are spoken, in the form in which marks are stored. */
  readonly marks?: Buffer | undefined;
  /** True if another synthesis of the recipe may have other bytes. Default: false. */
  readonly mayDiffer?: boolean;
}

export interface RenderOptions extends Pick<SpeechRequest, "beforeStart" | "waiter"> {
  readonly progressive: boolean;
}

export type Renderer = ReturnType<typeof createRenderer>;

export const createRenderer = ({ engines, encoder, decoder, maxAudioBytes }: RendererOptions) => ({
  /**
   * Synthesizes a recipe in its format, chunk by chunk.
   * @throws {EngineFailed} the engine failed, was too slow, or returned another format; or a
   * provider returned more than an object may hold
   * @throws {Invalid} the text contains nothing that can be spoken, or takes too long
   * @throws {Unavailable} no slot was free in time, or there is no encoder
   * @throws {Interrupted} the synthesis may be restarted
   */
  render: async function* (
    spoken: RenderRequest,
    { progressive, beforeStart, waiter }: RenderOptions,
    signal: AbortSignal,
  ): AsyncGenerator<Buffer, RenderedAudio> {
    const { recipe } = spoken;
    const engine = engines(recipe);
    if (!engine) throw new EngineFailed(`The engine ${recipe.engine} is not available.`);
    let reserving: Promise<ReservedSlot | undefined> | undefined;
    const reserveEncoder = async (): Promise<void> => {
      reserving ??= encoder.reserve(recipe.format, signal, waiter);
      await reserving;
    };
    const use = encoder.observe?.(recipe.format, signal);
    const request = {
      ...speechRequest(spoken),
      ...(progressive && { progressive }),
      ...(beforeStart && { beforeStart }),
      ...(waiter && { waiter }),
      ...{ encode: true, onEncoding: use?.started },
      ...(decoder && {
        // The decoder starts once its encoder has a slot. Otherwise decoders that wait for their
        // encoders could block decoders whose encoders have slots.
        decode: async function* (...asked: Parameters<Decode>) {
          await reserveEncoder();
          yield* decoder(...asked, waiter);
        },
      }),
    };
    try {
      const speech = await engine.synthesize(request, signal);
      signal.throwIfAborted(); // do not start an encoder for an aborted request
      const slot = await reserving;
      const { audio, declared } = inFormat(speech, recipe.format, (...asked) =>
        encoder.encode(...asked, signal, { waiter, slot, progressive }),
      );
      let size = 0;
      for await (const chunk of audio) {
        use?.firstByte();
        size += chunk.length;
        if (size > maxAudioBytes) throw tooLarge(engine, maxAudioBytes);
        yield chunk;
      }
      use?.succeeded();
      const { minSeconds } = speech;
      const input = declared();
      // A provider may return other bytes each time, and so may a voice that is not reproducible.
      const mayDiffer = speech.encoded === undefined || recipe.encoding === undefined;
      return { declared: input, minSeconds, marks: marksIn(recipe.format, speech, input), mayDiffer };
    } catch (error) {
      use?.failed(error);
      throw error;
    } finally {
      use?.ignored();
      // `reserveEncoder` has thrown the error, if there is one.
      void reserving?.then((slot) => slot?.release()).catch(() => undefined);
    }
  },
  /**
   * Resolves with the times of the phonemes of a recipe; with none if its voice does not report
   * them. They are not stored, so the text is spoken again, and the audio is dropped.
   * @throws as `render`
   */
  phonemes: async (
    spoken: RenderRequest,
    options: Pick<RenderOptions, "beforeStart" | "waiter">,
    signal: AbortSignal,
  ): Promise<readonly SpokenPhoneme[]> => {
    const { recipe } = spoken;
    const engine = engines(recipe);
    if (!engine?.reportsPhonemes?.(recipe.voice)) return [];
    const { audio, encoding, phonemes } = await engine.synthesize(
      { ...speechRequest(spoken), ...options },
      signal,
    );
    for await (const _ of audio);
    const inputRate = encoding.kind === "pcm" ? encoding.sampleRate : undefined;
    return delayed(phonemes?.() ?? [], recipe.format, inputRate);
  },
  finish,
});

/** A provider may send anything, so it is at fault. With a local engine, the text is at fault. */
const tooLarge = ({ code }: Engine, bytes: number): Error =>
  isByok(code) ? new EngineFailed(`The audio is larger than ${bytes} bytes.`) : new SpeechTooLong();

/**
 * Returns the complete audio, with the true sizes in its header, and its measured length. May
 * change the bytes. The third parameter is what `render` returned.
 * @throws {EngineFailed} the audio is empty, truncated, not in this format, not of the declared
 * length, or too short for its text
 */
const finish = (
  format: AudioFormat,
  audio: Buffer,
  { declared, minSeconds = 0 }: RenderedAudio,
): AudioContent => {
  if (audio.length === 0) throw new EngineFailed("The engine returned no audio.");
  const bytes = fixSizes(format, audio);
  if (isTruncated(format, bytes)) throw new EngineFailed("The audio is truncated.");
  const length = measureAudio(format, bytes);
  if (!length || length.samples === 0) throw new EngineFailed(`The audio is not ${format}.`);
  if (declared && !hasDeclaredLength(format, length, declared))
    throw new EngineFailed("The encoded audio does not have the length of the speech.");
  requireDuration(length.samples / length.sampleRate, minSeconds);
  return { bytes, length };
};

const marksIn = (
  format: AudioFormat,
  { marks }: Speech,
  input: AudioLength | undefined,
): Buffer | undefined => {
  const spoken = marks?.() ?? [];
  return spoken.length === 0 ? undefined : formatMarks(delayed(spoken, format, input?.sampleRate));
};

/**
 * Adds the encoder's delay to the times of words or phonemes. An encoder begins the audio with
 * silence, of at least `padding[0]` samples. Players of mp3 and adts play this silence, because no
 * header states its length. `inputRate`: the sample rate of the encoder's input, if the service has
 * encoded the audio.
 */
const delayed = <T extends { readonly time: number }>(
  spoken: readonly T[],
  format: AudioFormat,
  inputRate: number | undefined,
): T[] => {
  const delayMs = inputRate === undefined ? 0 : encoderDelayMs(formats[format], inputRate);
  return spoken.map((one) => ({ ...one, time: Math.round(one.time + delayMs) }));
};

const encoderDelayMs = ({ encoder, sampleRate }: FormatTraits, inputRate: number): number =>
  (1000 * (encoder?.padding[0] ?? 0)) / (sampleRate ?? inputRate);

/**
 * The request contains exactly what the hash covers: the same recipe must lead to the same request.
 */
const speechRequest = ({ recipe, ssml, document, reading, replacements }: RenderRequest): SpeechRequest => ({
  text: document ?? recipe.text.normalize("NFC"),
  ...(document !== undefined && { original: recipe.text }),
  ...(reading && { reading }),
  ...(replacements && { replacements }),
  ssml,
  voice: recipe.voice,
  lang: recipe.lang,
  prosody: appliedOnly(recipe),
  format: recipe.format,
  ...(recipe.instructions !== undefined && { instructions: recipe.instructions.normalize("NFC") }),
});

const appliedOnly = ({ prosody, applied }: Recipe): Prosody => {
  const value = (parameter: ProsodyParameter): number =>
    (applied.includes(parameter) ? prosody : normalProsody)[parameter];
  return { pitch: value("pitch"), rate: value("rate"), volume: value("volume") };
};

interface Encoded {
  readonly audio: AsyncIterable<Buffer>;
  /** Returns the length of the encoder's input; valid after the end of `audio`. */
  readonly declared: () => AudioLength | undefined;
}

const inFormat = (
  { encoding, audio, encoded }: Speech,
  format: AudioFormat,
  encode: (format: AudioFormat, sampleRate: number, pcm: AsyncIterable<Buffer>) => AsyncIterable<Buffer>,
): Encoded => {
  if (encoding.kind === "encoded") {
    if (encoding.format === format) return { audio, declared: encoded ?? (() => undefined) };
    throw new EngineFailed(`The engine returned ${encoding.format} instead of ${format}.`);
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
