import { spelledSeconds } from "./spelled-letters.ts";

/**
 * What takes more of a clause's buffers in espeak-ng 1.51 than a letter of prose: 800 bytes
 * (N_TR_SOURCE) with a blank around each sign, 1,000 phonemes (N_PHONEME_LIST). Beyond them it
 * skips the rest of the clause, or crashes. 300 letters of prose take less than half.
 */
const costly: readonly (readonly [pattern: RegExp, more: number])[] = [
  [/\d/g, 1.5],
  [/[!-/:-@[-`{-~]/g, 2],
  [/[\u3000-\u9fff]/g, 1.5],
  [/[\uac00-\ud7af]/g, 3],
  // Read by their names, or as several words.
  [/[[\p{S}\p{No}\ufdf0-\ufdff]--\p{ASCII}]/gv, 15],
  // Spelled.
  [/(?<![b-df-hj-np-tv-xz])[b-df-hj-np-tv-xz]{9,}|(\p{L})\1{8,}/giu, 4],
];

/** In letters of prose, of which a clause may have 300. */
export const clauseCost = (text: string, lang: string): number =>
  costly.reduce(
    (sum, [pattern, more]) => sum + more * lengthOf(text, pattern),
    text.length + 10 * spelledSeconds(text, lang),
  );

const lengthOf = (text: string, pattern: RegExp): number =>
  text.match(pattern)?.reduce((sum, { length }) => sum + length, 0) ?? 0;
