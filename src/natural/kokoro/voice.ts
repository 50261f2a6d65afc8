import type { FrontEnd } from "../phonemes.ts";
import { type SpokenSymbols, speakSentences, type VoiceEvent } from "../speak-sentences.ts";
import type { KokoroModel } from "./model.ts";

export interface KokoroText {
  readonly text: string;
  readonly frontEnd: FrontEnd;
  /** The voice's vectors: one for each number of symbols, from 1 on. */
  readonly styles: Float32Array;
  /** 2 is twice as fast. */
  readonly speed: number;
}

export interface KokoroOptions {
  readonly model: KokoroModel;
  /** The ids of the model's symbols. */
  readonly vocabulary: Readonly<Record<string, number>>;
}

export const kokoroSampleRate = 24_000;

/**
 * Part of the recipe of audio: change it with every change of the samples of equal model outputs.
 */
export const kokoroCode = "kokoro 1";

const frameSamples = 600;
const styleLength = 256;

/** Speaks texts with Kokoro's model, in parts. */
export const createKokoro = ({ model, vocabulary }: KokoroOptions) =>
  async function* speak(
    { text, frontEnd, styles, speed }: KokoroText,
    onEvent: (event: VoiceEvent) => void = () => {},
  ): AsyncGenerator<Int16Array<ArrayBuffer>, void> {
    const run = async (ids: readonly number[]): Promise<SpokenSymbols> => {
      const style = styles.slice((ids.length - 1) * styleLength, ids.length * styleLength);
      const { audio, lead, frames } = await model.run(ids, style, speed);
      return { audio: [audio], lead: lead * frameSamples, lengths: frames.map((one) => one * frameSamples) };
    };
    yield* speakSentences(await frontEnd.read(text), { vocabulary, run, onEvent });
  };
