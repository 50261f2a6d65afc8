import type { PronouncedWords } from "../../domain/text/pronounced-text.ts";
import type { FrontEnd } from "../phonemes.ts";
import { type SpokenSymbols, speakSentences, type VoiceEvent } from "../speak-sentences.ts";
import type { HibariModel } from "./model.ts";
import { frameSamples, waveform } from "./waveform.ts";

interface HibariVoiceOptions {
  readonly model: HibariModel;
  readonly frontEnd: FrontEnd;
  /** The ids of the model's symbols. */
  readonly vocabulary: Readonly<Record<string, number>>;
}

interface HibariText {
  readonly text: string;
  /** Words of the text whose pronunciation is given. */
  readonly pronounced?: readonly PronouncedWords[];
  /** 2 is twice as fast. */
  readonly speed: number;
  /** The factor for the frequency of the voice. */
  readonly pitch: number;
}

export interface HibariVoice {
  /** Speaks a text in parts. */
  speak(
    text: HibariText,
    onEvent?: (event: VoiceEvent) => void,
  ): AsyncGenerator<Int16Array<ArrayBuffer>, void>;
}

/** It is a part of the recipe of audio. Change it when equal model outputs give other samples. */
export const hibariCode = "hibari 1";

/**
 * The noise of every sentence is the same, so that its audio does not depend on what was spoken
 * before.
 */
const seed = 1;

/**
 * The model's sounds begin earlier than its durations say. The median is 73 ms at normal speed, 51
 * ms at twice the speed, and 136 ms at half of it. It was measured by aligning the speech with that
 * of another engine.
 */
const lateSamples = (speed: number): number => Math.round(600 + 1200 / speed);

export const createHibariVoice = ({ model, frontEnd, vocabulary }: HibariVoiceOptions): HibariVoice => {
  async function* speak(
    { text, pronounced, speed, pitch }: HibariText,
    onEvent: (event: VoiceEvent) => void = () => {},
  ): AsyncGenerator<Int16Array<ArrayBuffer>, void> {
    const run = async (ids: readonly number[]): Promise<SpokenSymbols> => {
      const outputs = await model.run(ids, speed);
      return {
        audio: waveform(outputs, { pitch, seed }),
        lead: Math.max(0, outputs.lead * frameSamples - lateSamples(speed)),
        lengths: outputs.frames.map((frames) => frames * frameSamples),
      };
    };
    yield* speakSentences(await frontEnd.read(text, pronounced), { vocabulary, run, onEvent });
  }
  return { speak };
};
