import type { PronouncedWords } from "../../domain/text/pronounced-text.ts";
import type { FrontEnd, SpokenSentence, SpokenWord } from "../phonemes.ts";
import type { HibariModel } from "./model.ts";
import { frameSamples, waveform } from "./waveform.ts";

export interface HibariVoiceOptions {
  readonly model: HibariModel;
  readonly frontEnd: FrontEnd;
  /** The ids of the model's symbols. */
  readonly vocabulary: Readonly<Record<string, number>>;
}

export interface HibariText {
  readonly text: string;
  /** Words of the text whose pronunciation is given. */
  readonly pronounced?: readonly PronouncedWords[];
  /** 2 is twice as fast. */
  readonly speed: number;
  /** Factor of the frequency of the voice. */
  readonly pitch: number;
}

/** Where something begins in the audio. Positions and lengths are code points of the text. */
export interface HibariEvent {
  readonly kind: "sentence" | "word" | "phoneme";
  readonly position: number;
  /** 0 for sentences. */
  readonly length: number;
  readonly sample: number;
  /** The symbol of a phoneme. */
  readonly value?: string;
}

export interface HibariVoice {
  /** Speaks a text in parts. */
  speak(
    text: HibariText,
    onEvent?: (event: HibariEvent) => void,
  ): AsyncGenerator<Int16Array<ArrayBuffer>, void>;
}

/** Part of the recipe of audio: change it with every change of the samples of equal model outputs. */
export const hibariCode = "hibari 1";

/** The noise of every sentence is the same, so that its audio does not depend on what was spoken before. */
const seed = 1;

export const createHibariVoice = ({ model, frontEnd, vocabulary }: HibariVoiceOptions): HibariVoice => {
  async function* speak(
    { text, pronounced, speed, pitch }: HibariText,
    onEvent: (event: HibariEvent) => void = () => {},
  ): AsyncGenerator<Int16Array<ArrayBuffer>, void> {
    let sample = 0;
    for (const sentence of await frontEnd.read(text, pronounced)) {
      let isFirst = true;
      for (const part of partsOf(sentence)) {
        const symbols = symbolsOf(part, vocabulary);
        if (symbols.length === 0) continue;
        const outputs = await model.run(
          symbols.map(({ id }) => id),
          speed,
        );
        if (isFirst) onEvent({ kind: "sentence", position: part[0]?.position ?? 0, length: 0, sample });
        isFirst = false;
        placeSymbols(symbols, outputs, sample, onEvent);
        for (const frame of waveform(outputs, { pitch, seed })) {
          sample += frame.length;
          yield toInt16(frame);
        }
      }
    }
  }
  return { speak };
};

/** The model takes a second and 50 MB for as many symbols. */
const mostSymbols = 200;

/** A long sentence in parts, which end after punctuation where that is possible. */
const partsOf = (sentence: SpokenSentence): readonly SpokenSentence[] => {
  const parts: SpokenWord[][] = [];
  let rest = [...sentence];
  while (rest.length > 0) {
    const most = Math.max(1, wordsWithin(rest));
    const clause = rest.slice(0, most).findLastIndex(({ phonemes }) => clauseEnd.test(phonemes)) + 1;
    const count = most < rest.length && clause > 0 ? clause : most;
    parts.push(rest.slice(0, count));
    rest = rest.slice(count);
  }
  return parts;
};

const clauseEnd = /[,;:—.!?…]["”)]*\s*$/;

/** How many of the words have at most `mostSymbols` together. */
const wordsWithin = (words: readonly SpokenWord[]): number => {
  let symbols = 0;
  const past = words.findIndex(({ phonemes }) => {
    symbols += phonemes.length;
    return symbols > mostSymbols;
  });
  return past < 0 ? words.length : past;
};

interface PlacedSymbol {
  readonly symbol: string;
  readonly id: number;
  readonly word: SpokenWord;
  readonly isFirst: boolean;
}

/** The symbols that the model has. */
const symbolsOf = (
  words: readonly SpokenWord[],
  vocabulary: HibariVoiceOptions["vocabulary"],
): readonly PlacedSymbol[] => {
  const known = words.flatMap((word) =>
    [...word.phonemes]
      .flatMap((symbol) => {
        const id = vocabulary[symbol];
        return id === undefined ? [] : [{ symbol, id, word }];
      })
      .map((placed, index) => ({ ...placed, isFirst: index === 0 })),
  );
  // A word of which a part has more than the most symbols is cut: no word has as many.
  return known.slice(0, 2 * mostSymbols);
};

/** Reports where words and their phonemes begin. */
const placeSymbols = (
  symbols: readonly PlacedSymbol[],
  { frames, lead }: { readonly frames: readonly number[]; readonly lead: number },
  start: number,
  onEvent: (event: HibariEvent) => void,
): void => {
  let frame = lead;
  for (const [index, { symbol, word, isFirst }] of symbols.entries()) {
    const { position, length } = word;
    const sample = start + frame * frameSamples;
    if (isFirst && length > 0) onEvent({ kind: "word", position, length, sample });
    if (phoneme.test(symbol)) onEvent({ kind: "phoneme", position, length, sample, value: symbol });
    frame += frames[index] ?? 0;
  }
};

/** Letters; spaces, punctuation, stress and other modifiers belong to them. */
const phoneme = /[[\p{L}--\p{Lm}]ᵊ]/v;

/** Values outside of -1 to 1 are clipped. */
const toInt16 = (samples: Float64Array): Int16Array<ArrayBuffer> => {
  const pcm = new Int16Array(samples.length);
  for (let n = 0; n < pcm.length; n++) {
    const value = samples[n] as number;
    pcm[n] = Math.round(32_767 * (value < -1 ? -1 : value > 1 ? 1 : value));
  }
  return pcm;
};
