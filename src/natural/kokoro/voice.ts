import type { PronouncedWords } from "../../domain/text/pronounced-text.ts";
import type { FrontEnd } from "../phonemes.ts";
import { type SpokenSymbols, speakSentences, type VoiceEvent } from "../speak-sentences.ts";
import type { KokoroModel } from "./model.ts";

export interface KokoroText {
  readonly text: string;
  /** Words of the text whose pronunciation is given. */
  readonly pronounced?: readonly PronouncedWords[];
  readonly frontEnd: FrontEnd;
  /** The voice's vectors: one for each number of symbols, from 1 on. */
  readonly styles: Float32Array;
  /** 2 is twice as fast. */
  readonly speed: number;
  /** The factor for the frequency of the voice. */
  readonly pitch: number;
  /** Factor of all samples except peaks. */
  readonly gain: number;
}

export interface KokoroOptions {
  readonly model: KokoroModel;
  /** The ids of the model's symbols. */
  readonly vocabulary: Readonly<Record<string, number>>;
}

export const kokoroSampleRate = 24_000;

/** It is a part of the recipe of audio. Change it when equal model outputs give other samples. */
export const kokoroCode = "kokoro 1";

const frameSamples = 600;
const styleLength = 256;

/** Speaks texts with Kokoro's model, in parts. */
export const createKokoro = ({ model, vocabulary }: KokoroOptions) =>
  async function* speak(
    { text, pronounced, frontEnd, styles, speed, pitch, gain }: KokoroText,
    onEvent: (event: VoiceEvent) => void = () => {},
  ): AsyncGenerator<Int16Array<ArrayBuffer>, void> {
    const run = async (ids: readonly number[]): Promise<SpokenSymbols> => {
      const style = styles.slice((ids.length - 1) * styleLength, ids.length * styleLength);
      const { audio, lead, frames } = await model.run(ids, { style, speed, pitch });
      return {
        audio: [audio.map((sample) => withinPeak(sample * gain))],
        lead: lead * frameSamples,
        lengths: frames.map((one) => one * frameSamples),
      };
    };
    yield* speakSentences(await frontEnd.read(text, pronounced), { vocabulary, run, onEvent });
  };

/** The highest peak is -1 dB. */
const maxPeak = 0.89;
/** Above it samples are compressed. */
const knee = 0.6;

/**
 * Compresses peaks, because plosives of some voices are up to 25 dB above their loudness and would
 * be clipped. The curve has no edge: its slope is 1 at the knee.
 */
const withinPeak = (sample: number): number => {
  const above = (Math.abs(sample) - knee) / (maxPeak - knee);
  if (above <= 0) return sample;
  const peak = knee + (maxPeak - knee) * (above / (1 + above));
  return sample < 0 ? -peak : peak;
};
