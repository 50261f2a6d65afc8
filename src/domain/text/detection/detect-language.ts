import type { TextFormat } from "../../synthesis/speech.ts";
import { isSsml } from "../is-ssml.ts";
import { alsoOf, type Evidence, evidenceOf, isEnglish } from "./evidence.ts";
import { lettersOf } from "./letters.ts";

/**
 * The language is recognised by `sample` characters at the beginning of a text. Of an SSML
 * document, `markup` characters are read to find them, because markup may take most of it.
 */
const limits = { sample: 400, markup: 2000 };

/**
 * The language of a text, as a BCP-47 code; undefined for English and where it is uncertain. It is
 * recognised by the script, and within a script by letters and frequent words. A document may
 * declare its language. An English text is never taken for one of another language, so short texts
 * and names are uncertain.
 */
export const detectLanguage = (text: string, textFormat?: TextFormat): string | undefined => {
  const isDocument = (textFormat ?? "ssml") === "ssml" && isSsml(text);
  const document = isDocument ? text.slice(0, limits.markup) : undefined;
  const [, declared] = /<speak\b[^>]*\sxml:lang\s*=\s*["']([^"']*)/.exec(document ?? "") ?? [];
  if (declared !== undefined) return /^en\b/i.test(declared) ? undefined : declared;
  const sample = (document?.replace(/<[^>]*>/g, " ") ?? text).slice(0, limits.sample).normalize("NFC");
  const detect = isLatin(sample) ? detectLatin : (longestScript(sample)?.language ?? detectLatin);
  return typeof detect === "string" ? detect : detect(sample);
};

const isLatin = (sample: string): boolean => !/[^\P{L}\p{Script=Latin}]/u.test(sample);

type Detect = (sample: string) => string | undefined;

interface ScriptRule {
  readonly letters: RegExp;
  /** One letter of the script counts as this many Latin letters. */
  readonly weight: number;
  readonly language: string | Detect;
}

const longestScript = (sample: string): ScriptRule | undefined => {
  let longest: { readonly rule: ScriptRule; readonly length: number } | undefined;
  for (const rule of scripts) {
    const length = rule.weight * (sample.match(rule.letters)?.length ?? 0);
    if (length > (longest?.length ?? 0)) longest = { rule, length };
  }
  return longest?.rule;
};

/**
 * About two words of a language are sufficient evidence. In a short text without English words, one
 * word that is no name is sufficient.
 */
const sufficient = { score: 1.6, phraseScore: 1, phraseWords: 8 };

const detectLatin: Detect = (sample) => {
  const { scores, english, words, hasLowerCase } = read(sample, latinLanguages);
  const [lang, score] = best(scores);
  if (lang === undefined) return undefined;
  const against = english.filter((also) => !also.includes(lang)).length;
  if (score <= 2 * against) return undefined;
  if (score >= sufficient.score) return lang;
  const isPhrase = against === 0 && hasLowerCase && words <= sufficient.phraseWords;
  return isPhrase && score >= sufficient.phraseScore ? lang : undefined;
};

/** The evidence of a text for each language. */
interface Reading {
  readonly scores: ReadonlyMap<string, number>;
  /** For each English word, the other languages that have it, too. */
  readonly english: readonly (readonly string[])[];
  /** The number of different words. */
  readonly words: number;
  /** True if one of the words that are evidence is in lower case, and so not a name. */
  readonly hasLowerCase: boolean;
}

const addresses = /\S+@\S+|\w+:\/\/\S+/g;
const word = /[\p{L}\p{M}]+(?:['’]\p{L}+)*/gu;

const read = (sample: string, langs: readonly string[]): Reading => {
  const scores = new Map(langs.map((lang) => [lang, 0]));
  const add = (lang: string, value: number): void => {
    const score = scores.get(lang);
    if (score !== undefined) scores.set(lang, score + value);
  };
  const words = new Set(sample.replace(addresses, " ").match(word));
  const english: (readonly string[])[] = [];
  let hasLowerCase = false;
  for (const written of words) {
    const lower = written.toLowerCase().replaceAll("’", "'");
    if (isEnglish(lower)) {
      english.push(alsoOf(lower));
      continue;
    }
    const found = evidenceOf(lower) ?? evidenceOfParts(lower);
    for (const lang of found?.langs ?? []) add(lang, found?.weight ?? 0);
    if (found && found.weight >= 1 && /^\p{Ll}/u.test(written)) hasLowerCase = true;
    if (!/^[\x20-\x7e]*$/.test(lower)) for (const [lang, value] of byLetters(lower, langs)) add(lang, value);
  }
  return { scores, english, words: words.size, hasLowerCase };
};

/** Looks up the parts of an elision, such as `l'` and `homme`, or `n` and `est`. */
const evidenceOfParts = (lower: string): Evidence | undefined => {
  const [before, after] = lower.split("'", 2);
  if (after === undefined) return undefined;
  return evidenceOf(`${before}'`) ?? evidenceOf(before ?? "") ?? evidenceOf(after);
};

/**
 * A word with letters that are not English counts for the languages that have all of them, and
 * against the others.
 */
const byLetters = (lower: string, langs: readonly string[]): [lang: string, value: number][] => {
  const special = [...lower].filter((letter) => specialLetters.has(letter));
  if (special.length === 0) return [];
  const fitting = langs.filter((lang) => special.every((letter) => lettersOf.get(lang)?.has(letter)));
  const value = fitting.length <= 2 ? 1 : 0.5;
  return langs.map((lang) => [lang, fitting.includes(lang) ? value : -1]);
};

const specialLetters: ReadonlySet<string> = new Set(
  [...lettersOf.values()].flatMap((letters) => [...letters]),
);

const best = (scores: ReadonlyMap<string, number>): readonly [lang: string | undefined, score: number] => {
  let found: readonly [string | undefined, number] = [undefined, 0];
  for (const [lang, score] of scores) if (score > found[1]) found = [lang, score];
  return found;
};

/** Decides for the language that fits best, or else for the first one. */
const oneOf =
  (...langs: readonly [string, ...string[]]): Detect =>
  (sample) =>
    best(read(sample, langs).scores)[0] ?? langs[0];

type Sign = readonly [letters: RegExp, lang: string];

/** Decides by the first of the signs that the text has, or else by `otherwise`. */
const bySign =
  (signs: readonly Sign[], otherwise: string | Detect): Detect =>
  (sample) =>
    signs.find(([letters]) => letters.test(sample))?.[1] ??
    (typeof otherwise === "string" ? otherwise : otherwise(sample));

const latinLanguages = [
  ...["de", "fr", "es", "it", "pt", "nl", "sv", "da", "nb", "fi", "pl", "cs", "sk", "sl", "hr", "ro", "hu"],
  ...["tr", "id", "vi", "et", "lt", "lv", "ca", "is", "eu", "sq", "az", "sw", "eo", "cy", "ga", "fil", "af"],
];

const cyrillic = bySign(
  [
    [/[ӑӗӳ]/i, "cv"],
    [/[ҙҡ]/i, "ba"],
    [/[ұқғ]/i, "kk"],
    [/[җәһ]/i, "tt"],
    [/[ңөү]/i, "ky"],
  ],
  oneOf("ru", "uk", "bg", "be", "sr", "mk"),
);

const arabic = bySign(
  [
    [/[ڄڃڀٻڏڊٺٽڦڇڪڱ]/, "sd"],
    [/[ېۈۋ]/, "ug"],
    [/[ٹڈڑںھہۓے]/, "ur"],
    [/[پچژگیک]/, "fa"],
  ],
  "ar",
);

const eastAsian = bySign(
  [
    [/[\p{Script=Hiragana}\p{Script=Katakana}々駅図気円実対応発売込働検権労済沢桜枠畑]/u, "ja"],
    [/[嘅咗喺唔冇哋嗰啲嘢嚟]/, "zh-HK"],
    [/[這個們來時說對國學會為發經過還沒麼嗎請問氣開關點樣]/, "zh-TW"],
  ],
  "zh-CN",
);

const script = (letters: RegExp, language: string | Detect, weight = 1): ScriptRule => ({
  letters,
  language,
  weight,
});

const scripts: readonly ScriptRule[] = [
  script(/\p{Script=Latin}/gu, detectLatin),
  script(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu, eastAsian, 2.5),
  script(/\p{Script=Hangul}/gu, "ko", 2.5),
  script(/\p{Script=Cyrillic}/gu, cyrillic),
  script(/\p{Script=Arabic}/gu, arabic),
  script(/\p{Script=Devanagari}/gu, oneOf("hi", "mr", "ne", "kok")),
  script(/\p{Script=Bengali}/gu, bySign([[/[ৰৱ]/, "as"]], "bn")),
  script(/\p{Script=Greek}/gu, bySign([[/[\u1f00-\u1fff]/, "grc"]], "el")),
  script(/\p{Script=Hebrew}/gu, "he"),
  script(/\p{Script=Thai}/gu, "th"),
  script(/\p{Script=Tamil}/gu, "ta"),
  script(/\p{Script=Telugu}/gu, "te"),
  script(/\p{Script=Kannada}/gu, "kn"),
  script(/\p{Script=Malayalam}/gu, "ml"),
  script(/\p{Script=Gujarati}/gu, "gu"),
  script(/\p{Script=Gurmukhi}/gu, "pa"),
  script(/\p{Script=Oriya}/gu, "or"),
  script(/\p{Script=Sinhala}/gu, "si"),
  script(/\p{Script=Myanmar}/gu, bySign([[/[ၵၶႁၼႆႉႂႃႇႈ]/, "shn"]], "my")),
  script(/\p{Script=Georgian}/gu, "ka"),
  script(/\p{Script=Armenian}/gu, "hy"),
  script(/\p{Script=Ethiopic}/gu, "am"),
  script(/\p{Script=Cherokee}/gu, "chr"),
];
