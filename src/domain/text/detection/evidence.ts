import { english, inBoth, inEnglishTexts } from "./english.ts";
import { greetings, words } from "./words.ts";

const split = (list: string): string[] => list.split(" ");

/** A word's languages, and its weight as evidence for them. */
export interface Evidence {
  readonly langs: readonly string[];
  readonly weight: number;
}

const weights = { greeting: 2, word: 1, inEnglishTexts: 0.4 };

const index = (lists: Readonly<Record<string, string>>): Map<string, string[]> => {
  const langsOf = new Map<string, string[]>();
  for (const [lang, list] of Object.entries(lists)) {
    for (const word of split(list)) langsOf.set(word, [...(langsOf.get(word) ?? []), lang]);
  }
  return langsOf;
};

const englishWords: ReadonlySet<string> = new Set(split(english));
const weakWords: ReadonlySet<string> = new Set(split(inEnglishTexts));
/** Single letters may also be abbreviations or parts of names (`d'Arc`). */
const isWeak = (word: string): boolean => /^[a-z]'?$/.test(word) || weakWords.has(word);

const evidence: ReadonlyMap<string, Evidence> = new Map([
  ...[...index(words)].map(
    ([word, langs]) =>
      [word, { langs, weight: isWeak(word) ? weights.inEnglishTexts : weights.word }] as const,
  ),
  ...[...index(greetings)].map(([word, langs]) => [word, { langs, weight: weights.greeting }] as const),
]);

/** True for frequent English words, and for words with an ending that only English has. */
export const isEnglish = (word: string): boolean =>
  englishWords.has(word) || /^[a-z]{3,}(?:ly|ness|'s)$/.test(word);

const languagesOfBoth = index(inBoth);

/** The languages in which an English word is frequent, too. */
export const alsoOf = (word: string): readonly string[] => languagesOfBoth.get(word) ?? [];

export const evidenceOf = (word: string): Evidence | undefined => evidence.get(word);
