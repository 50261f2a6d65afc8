import { languageOf } from "../language.ts";
import { cldrWords } from "./cldr.ts";
import { signWords } from "./signs.ts";

/**
 * A word for a sign, by plural category. `#` is the place of the number; without it, the number
 * precedes the word. A word that begins with `=` includes the number.
 */
export interface Word {
  readonly other: string;
  readonly forms: ReadonlyMap<string, string>;
}

/**
 * Reads entries that are separated by semicolons. An entry consists of the sign, a blank, and the
 * word. The words of other plural categories follow: `/one …`.
 */
export const readWords = (row: string): ReadonlyMap<string, Word> =>
  new Map(
    row.split(/;\s*/).map((entry) => {
      const blank = entry.indexOf(" ");
      const [other = "", ...forms] = entry.slice(blank + 1).split("/");
      return [entry.slice(0, blank), { other, forms: new Map(forms.map(readForm)) }];
    }),
  );

const readForm = (form: string): [category: string, word: string] => {
  const blank = form.indexOf(" ");
  return [form.slice(0, blank), form.slice(blank + 1)];
};

const read = new Map<string, ReadonlyMap<string, Word>>();

/** The words of a language by sign. Those of signs.ts replace those of cldr.ts. */
export const wordsOf = (lang: string): ReadonlyMap<string, Word> => {
  const language = languageOf(lang);
  let words = read.get(language);
  if (!words) {
    const rows = [cldrWords, signWords].flatMap((table) =>
      Object.hasOwn(table, language) ? [table[language] ?? ""] : [],
    );
    words = new Map(rows.flatMap((row) => [...readWords(row)]));
    read.set(language, words);
  }
  return words;
};

const rules = new Map<string, Intl.PluralRules>();

const rulesOf = (lang: string, decimals: number): Intl.PluralRules => {
  const language = languageOf(lang);
  const key = `${language} ${decimals}`;
  const found = rules.get(key) ?? new Intl.PluralRules(language, { minimumFractionDigits: decimals });
  rules.set(key, found);
  return found;
};

/** Returns the decimals of a number whose groups are joined or, in English, separated by commas. */
const decimalsOf = (number: string): string => /(?:[.]|,(?!\d{3}(?:,|$)))(\d+)$/.exec(number)?.[1] ?? "";

/** A number with a word, such as `5 euros`. */
export const say = ({ other, forms }: Word, number: string, lang: string): string => {
  let word = other;
  if (forms.size > 0) {
    const decimals = decimalsOf(number);
    const integer = decimals === "" ? number : number.slice(0, -decimals.length - 1);
    const value = Number(`${integer.replace(/\D/g, "")}.${decimals}`);
    word = forms.get(rulesOf(lang, Math.min(decimals.length, 3)).select(value)) ?? other;
  }
  if (word.startsWith("=")) return word.slice(1);
  return word.includes("#") ? word.replace("#", number) : `${number} ${word}`;
};
