import type { SpokenSentence, SpokenWord } from "./phonemes.ts";

/** The beginning of something in the audio. Positions and lengths are code points of the text. */
export interface VoiceEvent {
  readonly kind: "sentence" | "word" | "phoneme";
  readonly position: number;
  /** 0 for sentences. */
  readonly length: number;
  readonly sample: number;
  /** The symbol of a phoneme. */
  readonly value?: string;
}

/** The audio of one run of a model. */
export interface SpokenSymbols {
  /** The chunks of the audio. Each is read before the next one is computed. */
  readonly audio: Iterable<Float32Array | Float64Array>;
  /** Samples before the first symbol. */
  readonly lead: number;
  /** Samples of each symbol. */
  readonly lengths: readonly number[];
}

interface SentenceSpeaker {
  /** The ids of the model's symbols. */
  readonly vocabulary: Readonly<Record<string, number>>;
  /** `ids`: the ids of the symbols, without the pause at both ends. */
  readonly run: (ids: readonly number[]) => Promise<SpokenSymbols>;
  readonly onEvent: (event: VoiceEvent) => void;
}

/**
 * Speaks sentences with a model of the Kokoro family. Each part of a sentence is one run of the
 * model.
 */
export async function* speakSentences(
  sentences: readonly SpokenSentence[],
  { vocabulary, run, onEvent }: SentenceSpeaker,
): AsyncGenerator<Int16Array<ArrayBuffer>, void> {
  let sample = 0;
  for (const sentence of sentences) {
    let isFirst = true;
    for (const part of partsOf(sentence)) {
      const symbols = symbolsOf(part, vocabulary);
      if (symbols.length === 0) continue;
      const spoken = await run(symbols.map(({ id }) => id));
      if (isFirst) onEvent({ kind: "sentence", position: part[0]?.position ?? 0, length: 0, sample });
      isFirst = false;
      placeSymbols(symbols, spoken, sample, onEvent);
      for (const chunk of spoken.audio) {
        sample += chunk.length;
        yield toInt16(chunk);
      }
    }
  }
}

/** hibari's model needs a second and 50 MB for this many symbols. */
const maxSymbols = 200;

/** Divides a long sentence into parts, which end after punctuation where that is possible. */
const partsOf = (sentence: SpokenSentence): readonly SpokenSentence[] => {
  const parts: SpokenWord[][] = [];
  let rest = sentence.flatMap(divideWord);
  while (rest.length > 0) {
    const max = Math.max(1, wordsWithin(rest));
    const clause = rest.slice(0, max).findLastIndex(({ phonemes }) => clauseEnd.test(phonemes)) + 1;
    const count = max < rest.length && clause > 0 ? clause : max;
    parts.push(rest.slice(0, count));
    rest = rest.slice(count);
  }
  return parts;
};

/** Divides a word with more symbols than one run takes: a long number, or phonemes from SSML. */
const divideWord = (word: SpokenWord): SpokenWord[] =>
  word.phonemes.length <= maxSymbols
    ? [word]
    : (word.phonemes.match(longestPart) ?? []).map((phonemes) => ({ ...word, phonemes }));

const longestPart = new RegExp(`.{1,${maxSymbols}}`, "gsu");

const clauseEnd = /[,;:—.!?…]["”)]*\s*$/;

/** Counts the first words that together have at most `maxSymbols`. */
const wordsWithin = (words: readonly SpokenWord[]): number => {
  let symbols = 0;
  const past = words.findIndex(({ phonemes }) => {
    symbols += phonemes.length;
    return symbols > maxSymbols;
  });
  return past < 0 ? words.length : past;
};

interface PlacedSymbol {
  readonly symbol: string;
  readonly id: number;
  readonly word: SpokenWord;
  readonly isFirst: boolean;
}

/** Finds the model's ids of the symbols. Symbols that it does not have are dropped. */
const symbolsOf = (
  words: readonly SpokenWord[],
  vocabulary: SentenceSpeaker["vocabulary"],
): readonly PlacedSymbol[] =>
  words.flatMap((word) =>
    [...word.phonemes]
      .flatMap((symbol) => {
        const id = vocabulary[symbol];
        return id === undefined ? [] : [{ symbol, id, word }];
      })
      .map((placed, index) => ({ ...placed, isFirst: index === 0 })),
  );

/** Reports where words and their phonemes begin. */
const placeSymbols = (
  symbols: readonly PlacedSymbol[],
  { lead, lengths }: SpokenSymbols,
  start: number,
  onEvent: SentenceSpeaker["onEvent"],
): void => {
  let sample = start + lead;
  for (const [index, { symbol, word, isFirst }] of symbols.entries()) {
    const { position, length } = word;
    if (isFirst && length > 0) onEvent({ kind: "word", position, length, sample });
    if (phoneme.test(symbol)) onEvent({ kind: "phoneme", position, length, sample, value: symbol });
    sample += lengths[index] ?? 0;
  }
};

/** A phoneme is a letter. Spaces, punctuation, stress and other modifiers are not phonemes. */
const phoneme = /[[\p{L}--\p{Lm}]ᵊ]/v;

/** Values outside of -1 to 1 are clipped. */
const toInt16 = (samples: Float32Array | Float64Array): Int16Array<ArrayBuffer> => {
  const pcm = new Int16Array(samples.length);
  for (let n = 0; n < pcm.length; n++) {
    const value = samples[n] as number;
    pcm[n] = Math.round(32_767 * (value < -1 ? -1 : value > 1 ? 1 : value));
  }
  return pcm;
};
