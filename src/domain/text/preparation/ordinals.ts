import { ordinal as englishOrdinal } from "./english/number-words.ts";
import { ordinalStem } from "./german-ordinals.ts";

/** Writes an ordinal number so that tools read it; undefined if there is no way. */
type Write = (number: number) => string | undefined;

const endingIn =
  (ending: string): Write =>
  (number) =>
    `${number}${ending}`;
const beginningWith =
  (beginning: string): Write =>
  (number) =>
    `${beginning}${number}`;

/** Writes only numbers below 100: espeak-ng would read the endings of larger ones as words. */
const upTo99 =
  (write: (number: number) => string): Write =>
  (number) =>
    number < 100 ? write(number) : undefined;

/** The ordinals are masculine where a language distinguishes genders. */
const byLanguage: Readonly<Record<string, Write>> = {
  en: (number) => englishOrdinal(number, "american"),
  de: (number) => {
    const stem = ordinalStem(String(number));
    return stem && `${stem}e`;
  },
  fr: (number) => (number === 1 ? "1er" : `${number}ème`),
  ro: (number) => (number === 1 ? "primul" : `al ${number}-lea`),
  sv: upTo99((number) => `${number}:${/(?<!1)[12]$/.test(String(number)) ? "a" : "e"}`),
  af: upTo99((number) => `${number}${number === 1 || number === 8 || number > 19 ? "ste" : "de"}`),
  ...{ es: endingIn("º"), it: endingIn("º"), pt: endingIn("º"), el: endingIn("ος"), eo: endingIn("-a") },
  ...{ id: beginningWith("ke-"), ms: beginningWith("ke-"), ko: beginningWith("제") },
  ...{
    zh: beginningWith("第"),
    cmn: beginningWith("第"),
    yue: beginningWith("第"),
    ja: beginningWith("だい"),
    vi: beginningWith("thứ "),
  },
};

/** The ordinal number as a text that tools read; undefined if there is none in this language. */
export const ordinal = (number: number, lang: string): string | undefined => {
  const [language = ""] = lang.toLowerCase().split("-", 1);
  return Object.hasOwn(byLanguage, language) ? byLanguage[language]?.(number) : undefined;
};
