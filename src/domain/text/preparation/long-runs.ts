import { insertBlanks, type MappedText, rewrite } from "../mapped-text.ts";
import { segmentsOf } from "../pieces.ts";
import type { Reader } from "./reader.ts";

/**
 * Inserts blanks into runs that are too long for espeak-ng 1.51, which crashes or skips the rest of
 * the text if a word exceeds its buffers: 160 bytes (N_WORD_BYTES) or 200 phonemes
 * (N_WORD_PHONEMES). Ordinary text has such runs only in scripts without blanks. There, the
 * inserted blanks fall between words.
 */
export const breakLongRuns = (text: MappedText, { lang, tool }: Reader): MappedText => {
  if (tool !== "espeak") return text;
  const plain = rewrite(text, manyMarks, ([, kept]) => kept);
  const undotted = rewrite(plain, dottedLetters, ([run]) => run.replace(innerDots, " "));
  const paused = rewrite(undotted, equalLetters, ([run]) => run.replace(threeLetters, "$1,"));
  const offsets = new Set<number>();
  for (const { pattern, unit, largest, measure } of runs) {
    for (const { 0: run, index } of paused.text.matchAll(pattern)) {
      const parts = typeof unit === "string" ? unitsOf(run, lang, largest, measure) : (run.match(unit) ?? []);
      for (const at of joints(parts, largest, measure)) offsets.add(index + at);
    }
  }
  return insertBlanks(
    paused,
    [...offsets].sort((a, b) => a - b),
  );
};

/** More marks than these on one letter are ornament. */
const manyMarks = /(\p{M}{8})\p{M}+/gu;

/**
 * Letters with full stops, which espeak-ng reads as one abbreviation. In some languages it says all
 * of the letters again after each letter.
 */
const dottedLetters = /(?:\p{L}\p{M}*\.){9,}/gu;
const innerDots = /\.(?=.)/g;

/**
 * Some voices speak only the first three of equal letters with blanks between them, such as "x x x
 * x".
 */
const equalLetters = /(?<![\p{L}\p{M}\p{N}'’])(\p{L})(?:[ \t\n]\1){3,}(?![\p{L}\p{M}\p{N}'’])/giu;
const threeLetters = /(\p{L}\s\p{L}\s\p{L})(?=\s)/gu;

interface Runs {
  readonly pattern: RegExp;
  /** The unit that stays whole. A word that is too large is divided between its graphemes. */
  readonly unit: "word" | RegExp;
  readonly largest: number;
  readonly measure: (part: string) => number;
}

/** espeak-ng decomposes the syllables of Hangul. */
const bytes = (part: string): number => Buffer.byteLength(part.normalize("NFD"));
const codePoints = (part: string): number => Array.from(part).length;

const runs: readonly Runs[] = [
  { pattern: /[\p{L}\p{M}\p{Cf}'’]{14,}/gu, unit: "word", largest: 126, measure: bytes },
  // Words that have no vowels are spelled, and so are repeated letters. A letter has up to ten
  // phonemes.
  {
    pattern: /[b-df-hj-np-tv-xzßбвгджзклмнпрстфхцчшщъь]{20,}/giu,
    unit: /./gu,
    largest: 16,
    measure: codePoints,
  },
  { pattern: /(\p{L})\1{19,}/gu, unit: /./gu, largest: 16, measure: codePoints },
  { pattern: /\p{N}{40,}/gu, unit: /./gu, largest: 30, measure: codePoints },
  // In a run such as 1.2.3.4, each part is a word.
  { pattern: /(?:\p{N}{1,4}\.){9,}/gu, unit: /[^.]*\./gu, largest: 8, measure: () => 1 },
  // Signs and emoji are read by their names.
  {
    pattern: /[[\p{S}\p{Emoji_Modifier}\u200d\ufe0f]--\p{ASCII}]{9,}/gv,
    unit: "word",
    largest: 8,
    measure: codePoints,
  },
];

const unitsOf = (run: string, lang: string, largest: number, measure: Runs["measure"]): string[] =>
  segmentsOf(run, "word", lang).flatMap((word) =>
    measure(word) <= largest ? [word] : segmentsOf(word, "grapheme", lang),
  );

/**
 * The offsets within a run at which it is divided into parts of about the same size. Only a part
 * that is one unit may be larger than `largest`.
 */
const joints = (units: readonly string[], largest: number, measure: Runs["measure"]): number[] => {
  const found: number[] = [];
  const whole = units.reduce((sum, unit) => sum + measure(unit), 0);
  const share = Math.ceil(whole / Math.ceil(whole / largest));
  let size = 0;
  let at = 0;
  for (const unit of units) {
    const more = measure(unit);
    if (size > 0 && size + more > share) {
      found.push(at);
      size = 0;
    }
    size += more;
    at += unit.length;
  }
  return found;
};
