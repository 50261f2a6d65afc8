import { scriptOf } from "../../domain/synthesis/min-duration.ts";
import { unknownLetters } from "../../domain/text/preparation/script-runs.ts";

/* espeak-ng takes time for letters that it spells, and room in its buffers for each clause. */

interface Spelled {
  readonly characters: RegExp;
  /** The languages that use the characters, by their scripts. */
  readonly usedIn: ReadonlySet<string>;
  readonly seconds: number;
}

const eastAsian: ReadonlySet<string> = new Set(["Hans", "Hant", "Jpan", "Kore"]);
const none: ReadonlySet<string> = new Set();

/**
 * espeak-ng says each sign in a circle or square, and each letter that no voice knows, by its
 * script, name or number ("letter 1 7 9 C"). The seconds are at the normal rate. They are the
 * minimum of its English, French, German, Hindi and Russian voices, but their mean in the first
 * row.
 */
const spelled: readonly Spelled[] = [
  { characters: /[\u3297\u3299]/gu, usedIn: eastAsian, seconds: 1.5 },
  { characters: /[\u3200-\u3296\u3298\u329a-\u33ff]/gu, usedIn: eastAsian, seconds: 0.7 },
  { characters: unknownLetters, usedIn: none, seconds: 0.8 },
];

/** Seconds at the normal rate that espeak-ng needs for the letters that it spells. */
export const spelledSeconds = (text: string, lang: string): number => {
  const found = spelled.filter(({ characters }) => text.search(characters) >= 0);
  if (found.length === 0) return 0; // `scriptOf` takes longer than the search
  const script = scriptOf(lang) ?? "";
  return found
    .filter(({ usedIn }) => !usedIn.has(script))
    .reduce((sum, { characters, seconds }) => sum + seconds * (text.match(characters)?.length ?? 0), 0);
};

/**
 * These characters take more of a clause's buffers in espeak-ng 1.51 than a letter of prose. The
 * buffers hold 800 bytes (N_TR_SOURCE), with a blank around each sign, and 1,000 phonemes
 * (N_PHONEME_LIST). If a clause has more, espeak-ng skips the rest of it, or crashes. 300 letters
 * of prose take less than half of the buffers.
 */
const costly: readonly (readonly [pattern: RegExp, more: number])[] = [
  [/\d/g, 1.5],
  [/[!-/:-@[-`{-~]/g, 2],
  [/[\u3000-\u9fff]/g, 1.5],
  [/[\uac00-\ud7af]/g, 3],
  // These characters are read by their names, or as several words.
  [/[[\p{S}\p{No}\ufdf0-\ufdff]--\p{ASCII}]/gv, 15],
  // These letters are spelled.
  [/(?<![b-df-hj-np-tv-xz])[b-df-hj-np-tv-xz]{9,}|(\p{L})\1{8,}/giu, 4],
];

/** Measures a text in letters of prose. A clause may have 300 of them. */
export const clauseCost = (text: string, lang: string): number =>
  costly.reduce(
    (sum, [pattern, more]) => sum + more * lengthOf(text, pattern),
    text.length + 10 * spelledSeconds(text, lang),
  );

const lengthOf = (text: string, pattern: RegExp): number =>
  text.match(pattern)?.reduce((sum, { length }) => sum + length, 0) ?? 0;
