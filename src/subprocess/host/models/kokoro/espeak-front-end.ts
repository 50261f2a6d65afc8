import { kokoroSymbols, symbolsOfIpa } from "../../../../natural/kokoro/symbols.ts";
import type { FrontEnd, SpokenWord } from "../../../../natural/phonemes.ts";
import type { EspeakLibrary } from "../../espeak/library.ts";

/**
 * The signs of punctuation, which espeak-ng leaves out of its phonemes, with the model's symbols
 * for them.
 */
const punctuation: Readonly<Record<string, string>> = {
  ...Object.fromEntries([...';:,.!?—…"()“”'].map((one) => [one, one])),
  ...{ "«": "“", "»": "”", "–": "—", "।": ".", "¿": "", "¡": "" },
};
const signs = Object.keys(punctuation).join("");

/**
 * Matches signs, or the words between signs. A sign within a number or an abbreviation does not
 * count.
 */
const sections = new RegExp(`(?<words>(?:[^${signs}]|[.,:](?=[\\p{L}\\p{N}]))+)|[${signs}]+`, "gu");

/**
 * Reads texts of one language by the phonemes of espeak-ng. `vocabulary`: the symbols of the model.
 */
export const espeakFrontEnd = (
  library: Pick<EspeakLibrary, "phonemes">,
  voice: string,
  vocabulary: Readonly<Record<string, number>>,
): FrontEnd => ({
  read: async (text, pronounced = []) => {
    const read = (words: string): string => kokoroSymbols(library.phonemes(voice, words));
    const words: SpokenWord[] = [];
    let [next, position] = [0, 0];
    const readUntil = (end: number): void => {
      for (const [section] of text.slice(next, end).matchAll(sections)) {
        if (section.charAt(0) in punctuation) words.push({ phonemes: signsOf(section), position, length: 0 });
        else words.push(...wordsOf(section, position, read));
        position += [...section].length;
      }
      next = end;
    };
    for (const { start, end, ipa } of pronounced) {
      const phonemes = symbolsOfIpa(ipa, vocabulary);
      if (phonemes === undefined) continue;
      readUntil(start);
      const { length } = [...text.slice(start, end)];
      words.push({ phonemes, position, length });
      [next, position] = [end, position + length];
    }
    readUntil(text.length);
    return words.some(({ length }) => length > 0) ? [words] : [];
  },
});

const signsOf = (section: string): string => [...section].map((sign) => punctuation[sign] ?? "").join("");

/**
 * Returns the words of a section. Each has its own position if espeak-ng reads as many words as are
 * written; otherwise all have the position of the first word.
 */
const wordsOf = (section: string, at: number, read: (words: string) => string): SpokenWord[] => {
  const written = [...section.matchAll(/\S+/gu)].map(({ 0: word, index }) => ({
    position: at + [...section.slice(0, index)].length,
    length: [...word].length,
  }));
  const spoken = read(section)
    .trim()
    .split(/\s+/u)
    .filter((word) => word !== "");
  const [first = { position: at, length: 0 }] = written;
  const isSame = spoken.length === written.length;
  const words = spoken.map((word, index): SpokenWord => {
    const place = (isSame || index === 0 ? written[index] : undefined) ?? { ...first, length: 0 };
    return { ...place, phonemes: index < spoken.length - 1 ? `${word} ` : word };
  });
  const blank = (where: RegExp) => (where.test(section) ? [{ phonemes: " ", position: at, length: 0 }] : []);
  return [...blank(/^\s/u), ...words, ...(words.length > 0 ? blank(/\s$/u) : [])];
};
