import { rewrite } from "../mapped-text.ts";
import { languageOf } from "./language.ts";
import type { Step } from "./reader.ts";
import { wordsOf } from "./words/words.ts";

const foreignDigits = /[^\P{Nd}0-9]/gu;

/** Writes the digits of every script as ASCII digits, which every voice reads. */
export const writeDigits: Step = (text) =>
  rewrite(text, foreignDigits, ({ 0: digit }) => String(digitValue(digit.codePointAt(0) ?? 0)));

/** The code points of a script's digits follow each other, beginning with zero. */
const digitValue = (digit: number): number => {
  let value = 0;
  while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(digit - value - 1))) value++;
  return value;
};

/**
 * The languages whose espeak-ng voices read a comma as the sign of decimals; the others read a
 * point.
 */
const commaVoices: ReadonlySet<string> = new Set(
  "an az bg bs ca cs da de el eo es et eu fi fr hr hu hy id io is it lfn lt ltg lv mk ms nb nl pap pl pt qdb ro ru sk sl smj sq sr tr tt uk vi".split(
    " ",
  ),
);

const voicePoint = (lang: string): string =>
  commaVoices.has(languageOf(lang)) && !/^hyw\b/.test(lang) ? "," : ".";

interface Separators {
  /** The separator of decimals. */
  readonly point: string;
  readonly groupsByBlank: boolean;
}

const separators = new Map<string, Separators>();

const separatorsOf = (lang: string): Separators => {
  let found = separators.get(lang);
  if (!found) {
    const isKnown = Intl.NumberFormat.supportedLocalesOf([lang]).length > 0;
    const format = new Intl.NumberFormat(isKnown ? lang : "en", { numberingSystem: "latn" });
    const parts = format.formatToParts(1_000_000.5);
    const partOf = (wanted: string): string => parts.find(({ type }) => type === wanted)?.value ?? "";
    const point = isKnown ? partOf("decimal") : voicePoint(lang);
    found = { point, groupsByBlank: /\s/u.test(partOf("group")) };
    separators.set(lang, found);
  }
  return found;
};

/**
 * Digits with single separators between them: a number, a date, a telephone number, or numbers in a
 * row.
 */
const separated = /(?<!\d)\d+(?:[.,\u066b\u066c'’\u00a0\u2007\u2009\u202f ]\d+)+/gu;

/**
 * Joins the groups of digits of each number. The sign of decimals becomes that of the language.
 * Groups with blanks stay apart if they may be a telephone number or two numbers.
 */
export const joinGroups: Step = (text, { lang }) => {
  const { point, groupsByBlank } = separatorsOf(lang);
  const isEnglish = languageOf(lang) === "en";
  return rewrite(text, separated, ({ 0: digits, index, input }) => {
    const words = digits.split(" ");
    const start = words.length > 2 && isYear(words) ? 1 : 0;
    const number = words.slice(start);
    const isGrouped =
      number.length > 1 &&
      input[index - 1] !== "+" &&
      isGroupedByBlanks(number, input.slice(index + digits.length, index + digits.length + 2)) &&
      (groupsByBlank || /^000/.test(number.at(-1) ?? ""));
    const joined = isGrouped ? [...words.slice(0, start), number.join("\u00a0")] : words;
    return joined.map((word) => withoutGroups(word, point, isEnglish) ?? word).join(" ");
  });
};

const isYear = ([first = ""]: readonly string[]): boolean => /^(?:1[5-9]|20)\d\d$/.test(first);

/** `800 123 456` may be a telephone number, unless zeros or the sign of a currency follow. */
const isGroupedByBlanks = (words: readonly string[], after: string): boolean =>
  /^[1-9]\d{0,2}$/.test(words[0] ?? "") &&
  words.slice(1, -1).every((word) => /^\d{3}$/.test(word)) &&
  /^\d{3}(?:[.,]\d+)?$/.test(words.at(-1) ?? "") &&
  (words.length !== 3 || words[0]?.length !== 3 || words[2] === "000" || /^\s?\p{Sc}/u.test(after));

/**
 * Digits are grouped by threes, or in India by twos before the last three, with the same separator
 * everywhere.
 */
const grouped =
  /^([1-9]\d{0,2})(?:([.,'’\u066c\u00a0\u2007\u2009\u202f])\d{3}(?:\2\d{3})*|(,)(?:\d\d,)+\d{3})(?:([.,\u066b])(\d+))?$/u;
const address = /^(?:25[0-5]|2[0-4]\d|[01]?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|[01]?\d?\d)){3}$/;

/** The number without its separators; undefined if the digits are not grouped like a number. */
const withoutGroups = (digits: string, point: string, isEnglish: boolean): string | undefined => {
  const [, , three, two, ownPoint, decimals] = grouped.exec(digits) ?? [];
  const separator = three ?? two;
  if (separator === undefined) return digits.replace(/^(\d+)\u066b(\d+)$/, `$1${point}$2`);
  const groups = digits.split(separator);
  const isDecimal = separator === point && groups.length === 2 && ownPoint === undefined;
  if (isDecimal || separator === ownPoint || address.test(digits)) return undefined;
  const [integer = ""] = ownPoint === undefined ? [digits] : digits.split(ownPoint);
  const plain = integer.split(separator).join("");
  // English rules take four digits for a year.
  const written = isEnglish ? plain.replace(/\B(?=(?:\d{3})+$)/g, ",") : plain;
  return decimals === undefined ? written : written + point + decimals;
};

const decimal = /(?<![\d.,])(\d+)([.,])(\d+)(?![\d]|[.,]\d)/gu;

/**
 * Writes decimals as the voice reads them. If it does not read their sign, a word is written
 * instead.
 */
export const writeDecimals: Step = (text, { lang, tool }) => {
  if (tool !== "espeak" || languageOf(lang) === "en") return text;
  const { point } = separatorsOf(lang);
  const words = wordsOf(lang);
  return rewrite(text, decimal, ({ 1: integer = "", 2: sign = "", 3: decimals = "" }) => {
    const word = words.get(sign)?.other;
    if (word !== undefined) return `${integer} ${word} ${[...decimals].join(" ")}`;
    return sign === point ? integer + voicePoint(lang) + decimals : undefined;
  });
};
