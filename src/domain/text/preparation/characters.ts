import { rewrite } from "../mapped-text.ts";
import { languageOf } from "./language.ts";
import type { Step } from "./reader.ts";

/**
 * Soft hyphens, direction marks, invisible operators, joiners, variation selectors, keycaps, and
 * the stroke that stretches Arabic words: tools take most of them for the end of a word.
 */
const invisible =
  /[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ufe00-\ufe0f]|\u034f|\u20e3|(?<=\p{Script=Arabic})\u0640+/gu;

/** Joiners have a meaning within words of these scripts and between emoji. */
const usesJoiners =
  /(?:[\p{Script=Arabic}\p{Script=Bengali}\p{Script=Devanagari}\p{Script=Gujarati}\p{Script=Gurmukhi}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Mongolian}\p{Script=Myanmar}\p{Script=Oriya}\p{Script=Sinhala}\p{Script=Syriac}\p{Script=Tamil}\p{Script=Telugu}\p{Extended_Pictographic}\p{Emoji_Modifier}]|\ufe0f)$/u;
/** U+200B separates words of these scripts, which are written without blanks. */
const usesNoBlanks = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]$/u;
/** Emoji, without signs that only a variation selector makes emoji: these are read as signs. */
const emoji = /(?![©®™‼⁉ℹ↔-↪])\p{Extended_Pictographic}$/u;

/** Removes invisible characters where they mean nothing. */
export const removeInvisible: Step = (text) =>
  rewrite(text, invisible, ({ 0: character, index, input }) => {
    const before = input.slice(Math.max(0, index - 2), index);
    const isMeant =
      (/[\u200c\u200d]/.test(character) && usesJoiners.test(before)) ||
      (character === "\u200b" && usesNoBlanks.test(before)) ||
      (/[\ufe00-\ufe0f]/.test(character) && emoji.test(before));
    return isMeant ? undefined : "";
  });

/**
 * Runs of characters that have a plain form and that tools read wrongly or not at all. They are
 * rewritten in runs, because the sign of voicing after a half-width kana is a character of its own.
 */
const compatible = new RegExp(
  `[${[
    "\\u0132\\u0133\\u0149\\u017f\\u01c4-\\u01cc\\u01f1-\\u01f3\\ufb00-\\ufb4f", // ligatures
    "\\u02b0-\\u02b8\\u02e0-\\u02e4\\u1d2c-\\u1d6a\\u1d9b-\\u1dbf\\u2071\\u2080-\\u208e\\u2090-\\u209c", // raised and lowered
    "\\u2010\\u2011", // hyphens
    "\\u2102\\u210a-\\u2113\\u2115\\u2119-\\u211d\\u2124\\u2126\\u2128\\u212a-\\u212d\\u212f-\\u2131\\u2133-\\u2139\\u213c-\\u213f\\u2145-\\u2149",
    "\\u{1d400}-\\u{1d7ff}\\u{1ee00}-\\u{1eeff}", // for mathematics
    "\\u{1f110}-\\u{1f14f}", // letters in brackets and squares
    "\\u2100\\u2101\\u2103\\u2105\\u2106\\u2109\\u2120\\u2121\\u3300-\\u33ff", // words in one character
    "\\ufb50-\\ufdcf\\ufdf0-\\ufdfc\\ufe70-\\ufefc", // forms of Arabic letters
    // Characters of full and half width, without the punctuation by which sentences are split.
    "\\uff02-\\uff07\\uff0a\\uff0b\\uff0d\\uff0f-\\uff19\\uff1c-\\uff1e\\uff20-\\uff5e\\uff66-\\uff9f\\uffa1-\\uffdc\\uffe0-\\uffe2\\uffe4-\\uffe6",
  ].join("")}]+|(?<=[0-9\\uff10-\\uff19])[\\uff0c\\uff0e](?=[0-9\\uff10-\\uff19])`,
  "gu",
);

/** Writes the plain form of compatibility characters. */
export const writePlainCharacters: Step = (text) =>
  rewrite(text, compatible, ({ 0: run }) => {
    const plain = run.replace(/[\u3371-\u33df]/gu, exponentsKept).normalize("NFKC");
    return plain
      .replaceAll("\u2010", "-")
      .replaceAll("\u2011", "-")
      .replaceAll(SQUARED, "²")
      .replaceAll(CUBED, "³");
  });

/**
 * Some units are one character, such as `㎡`, and NFKC would turn their exponents into digits. These
 * characters stand for the exponents meanwhile.
 */
const SQUARED = "\ue002";
const CUBED = "\ue003";
const exponentsKept = (unit: string): string =>
  unit.normalize("NFKC").replace(/2$/, SQUARED).replace(/3$/, CUBED);

/** A letter and its marks, where Unicode has one character for both. */
const decomposed =
  /\p{L}[\u0300-\u036f\u0653-\u0655\u093c\u3099\u309a]+|[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?/gu;

/** Composes letters and their marks, which tools would read one by one. */
export const composeLetters: Step = (text) =>
  rewrite(text, decomposed, ({ 0: letter }) => letter.normalize("NFC"));

const roman = /[\u2160-\u217f]+/gu;
const circled = /[\u2460-\u249b\u24b6-\u24ff\u2776-\u2793\u3251-\u325f\u32b1-\u32bf]/gu;

/**
 * Writes the value of Roman numerals that are characters of their own, and letters and numbers
 * without their circles.
 */
export const writeNumerals: Step = (text, { lang }) => {
  const isEnglish = languageOf(lang) === "en";
  const arabic = rewrite(text, roman, ({ 0: run, index, input }) => {
    const letters = run.normalize("NFKC");
    // The English rules read the numerals of names and chapters.
    return isEnglish && name.test(input.slice(Math.max(0, index - 40), index))
      ? letters
      : String(valueOfRoman(letters));
  });
  return rewrite(arabic, circled, ({ 0: character, index, input }) => {
    const before = wordCharacter.test(input.slice(Math.max(0, index - 2), index)) ? " " : "";
    const after = wordCharacter.test(input.slice(index + 1, index + 2)) ? " " : "";
    return before + withoutCircle(character) + after;
  });
};

const name = /\p{Lu}\p{L}+\s$/u;
const wordCharacter = /[\p{L}\p{N}]$/u;

const romanValues: Readonly<Record<string, number>> = { I: 1, V: 5, X: 10, L: 50, C: 100, D: 500, M: 1000 };

const valueOfRoman = (letters: string): number => {
  const values = Array.from(letters.toUpperCase(), (letter) => romanValues[letter] ?? 0);
  return values.reduce((sum, value, at) => sum + (value < (values[at + 1] ?? 0) ? -value : value), 0);
};

/**
 * Numbers in black circles, which have no compatibility form: the first of each series, and its
 * value.
 */
const blackCircles: readonly (readonly [first: number, value: number])[] = [
  [0x278a, 1],
  [0x2780, 1],
  [0x2776, 1],
  [0x24ff, 0],
  [0x24f5, 1],
  [0x24eb, 11],
];

const withoutCircle = (character: string): string => {
  const plain = character.normalize("NFKC").replace(/[().]/g, "");
  if (plain !== character) return plain;
  const code = character.charCodeAt(0);
  const [first = code, value = 0] = blackCircles.find(([first]) => code >= first) ?? [];
  return String(code - first + value);
};
