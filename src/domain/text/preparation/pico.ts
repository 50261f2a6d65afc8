import { rewrite } from "../mapped-text.ts";
import { inAscii } from "./latin-letters.ts";
import type { Step } from "./reader.ts";
import { apart } from "./signs.ts";
import { wordsOf } from "./words/words.ts";

/**
 * Letters that a voice skips although Pico's character set, Windows-1252, contains them, by
 * language.
 */
const skipped: Readonly<Record<string, string>> = { de: "ŒœŸ", fr: "Ññ" };

/** Pico skips all other characters, even in the middle of a word. */
const known = /[\p{ASCII}\u00a0-\u00ffŒœŠšŸŽž‘’‰€]/u;

const letters = /[[\p{Script=Latin}\p{Lm}]--[\p{ASCII}\u00aa-\u00bf]]/gv;
const apostrophes = /[‘’‚‛′ʻʼ]/gu;
const quotes = /[“”„‟″«»]/gu;
/** Pico says "dash" for each hyphen of a row, and pauses at one between blanks. */
const dashes = /(?<blank>\s?)(?:[\u2014\u2015]+|-{2,}|(?<=\s)[\u2012\u2013](?=\s))\s?/gu;
const shortDashes = /[\u2012\u2013]/gu;
/** Pico pauses at each full stop, as after a sentence. */
const ellipses = /(?:…|\.{2,})(?:\s?(?:…|\.{2,}))*/gu;

/**
 * Pico reads more than six digits one by one, unless they are written in groups. Its English voices
 * know only groups with commas.
 */
const millions = /(?<![\p{L}\d.,+-])[1-9]\d{6,8}(?![\p{L}\d]|\.\d)/gu;
const groupEnds = /\B(?=(?:\d{3})+$)/g;

/**
 * Pico says "dot" at each full stop between letters, and at one after letters and digits, such as
 * `H2O.`.
 */
const initials =
  /(?<![\p{L}\p{M}\p{N}.@/])\p{L}(?:\.\p{L})+(?![\p{L}\p{M}\p{N}@/])(?:\.(?=\s+\p{Ll}|[,;:!?)]))?/gu;
const numbersInWords = /(?<=\p{L})\d+(?=\p{L}(?!\p{L}))/gu;

/**
 * Pico takes letters and numbers before a full stop for initials and ordinal numbers, and does not
 * end the sentence.
 */
const lastStops = /(?<=\d|(?<!\p{L})\p{L})\.(?=["')\]]*(?:\s*$|\s+\p{Lu}))/gu;

/**
 * Names of the number sign where Pico skips it, by language. Before a number, the sign means
 * "number".
 */
const hash: Readonly<Record<string, string>> = { es: "almohadilla", fr: "dièse", it: "cancelletto" };
const hashes = /(?<![\p{L}\p{N}#&])#(?!#)(?=(\s?\d)?)/gu;

/** Writes what Pico reads otherwise, skips, or takes for its own markup. */
export const writeForPico: Step = (text, { tool, lang }) => {
  if (tool !== "pico") return text;
  const [language = ""] = lang.split("-");
  const isSkipped = (letter: string): boolean =>
    !known.test(letter) || (skipped[language]?.includes(letter) ?? false);
  const words = wordsOf(lang);
  const less = words.get("<")?.other ?? "";
  const [number, sign] = [words.get("№")?.other, hash[language]];
  let written = rewrite(text, apostrophes, () => "'");
  written = rewrite(written, quotes, () => '"');
  written = rewrite(written, dashes, () => " - ");
  written = rewrite(written, shortDashes, () => "-");
  written = rewrite(written, ellipses, () => ". ");
  written = rewrite(written, millions, ([digits]) =>
    digits.replace(groupEnds, language === "en" ? "," : "."),
  );
  written = rewrite(written, initials, ([letters]) => spaced(letters, language));
  written = rewrite(written, numbersInWords, ([digits]) => ` ${digits} `);
  written = rewrite(written, lastStops, () => " .");
  written = rewrite(written, hashes, ({ 1: digits, index, input }) => {
    const word = digits === undefined ? sign : number;
    return sign === undefined ? undefined : apart(word ?? sign, { input, start: index, end: index + 1 });
  });
  written = rewrite(written, /</g, () => ` ${less} `);
  return rewrite(written, letters, ([letter]) => (isSkipped(letter) ? plain(letter) : undefined));
};

/** In English, Pico reads a single `a` as the article; `ay` names the letter. */
const spaced = (letters: string, language: string): string => {
  const names = letters.replace(/\.$/, "").replaceAll(".", " ");
  return language === "en" ? names.replace(/a/gi, "ay") : names;
};

const plain = (letter: string): string =>
  inAscii[letter] ??
  letter
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/./u, (base) => inAscii[base] ?? base);
