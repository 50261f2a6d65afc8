import type { Mark } from "./marks.ts";

/** A phoneme of a text with its time. Phonemes disclose the words, so they are never stored. */
export interface SpokenPhoneme {
  /** The beginning of the phoneme, in milliseconds from the start of the audio. */
  readonly time: number;
  /** The place of its word in the text, stated as in a mark. */
  readonly start: number;
  readonly end: number;
  /** The phoneme in the writing of the voice's model; empty for silence. */
  readonly value: string;
}

/**
 * Azure's numbers of visemes, with the phonemes of each: learn.microsoft.com, "Get facial position
 * with viseme". 0 is silence. The capital letters are diphthongs of English.
 */
const visemePhonemes: readonly (readonly [viseme: number, phonemes: string])[] = [
  [1, "æəʌɐᵊa"],
  [2, "ɑ"],
  [3, "ɔɒ"],
  [4, "ɛʊAeœø"],
  [5, "ɝɜɚ"],
  [6, "jiɪᵻyɨʝ"],
  [7, "wuɯɥʋ"],
  [8, "oOQɤ"],
  [9, "W"],
  [10, "Y"],
  [11, "I"],
  [12, "hɦ"],
  [13, "ɹɻɾrɽʁ"],
  [14, "lɭʎ"],
  [15, "szʦʣ"],
  [16, "ʃʒʧʤɕʑʨʥʂ"],
  [17, "ð"],
  [18, "fvɸβ"],
  [19, "dtnθTɖʈɳɲ"],
  [20, "kɡɟcqŋɴxχɣçʔ"],
  [21, "pbm"],
];

const visemes: ReadonlyMap<string, number> = new Map([
  ["", 0],
  ...visemePhonemes.flatMap(([viseme, phonemes]) => [...phonemes].map((one) => [one, viseme] as const)),
]);

/**
 * Finds the shape of the mouth; undefined for a symbol without a shape, such as a sign of length.
 */
const visemeOf = (phoneme: string): number | undefined => visemes.get(phoneme);

/**
 * The marks of a text for the caller who sent it: with the words, and with phonemes and visemes.
 * One JSON object per line, in order of time, a word before its first phoneme.
 */
export const formatWithPhonemes = (
  text: string,
  marks: readonly Mark[],
  phonemes: readonly SpokenPhoneme[],
): Buffer => {
  const characters = [...text];
  const words = marks.map((mark) => ({ ...mark, value: characters.slice(mark.start, mark.end).join("") }));
  const spoken = phonemes.flatMap(({ time, start, end, value }) => {
    const viseme = visemeOf(value);
    return [
      ...(value === "" ? [] : [{ time, type: "phoneme", start, end, value }]),
      ...(viseme === undefined ? [] : [{ time, type: "viseme", start, end, value: viseme }]),
    ];
  });
  const lines = [...words, ...spoken].sort((a, b) => a.time - b.time);
  return Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
};
