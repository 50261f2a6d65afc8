import { hash } from "node:crypto";
import { isInRange } from "../catalog/language-match.ts";
import type { LexiconRule, LexiconRules, PhonemeAlphabet } from "./lexicon-rules.ts";

export type Pronunciation =
  | { readonly alias: string }
  | { readonly phoneme: string; readonly alphabet: PhonemeAlphabet };

/** A part of a text that a rule of a lexicon applies to. */
export interface Replacement {
  /** Indices of characters (code points); `to` is the first one after it. */
  readonly from: number;
  readonly to: number;
  readonly by: Pronunciation;
}

export interface VoiceTraits {
  /** The language tag (BCP-47). */
  readonly lang: string;
  readonly takesPhonemes: boolean;
}

/**
 * The replacements in a text, from left to right. They do not overlap, and none applies to what
 * another one has written. Of the rules that begin at a character, the longest applies; of equal
 * ones, the first of the first lexicon. A grapheme is matched in its own case and only as a whole
 * word: neither end may lie within a word of a script that writes blanks between words. White space
 * of any kind and length is the same, and so are apostrophes.
 */
export type FindReplacements = (characters: readonly string[], voice: VoiceTraits) => Replacement[];

/** Takes little more memory than its rules, which stay in memory anyway. */
export interface CompiledLexicon {
  readonly lang: string | undefined;
  /**
   * The graphemes, as `sameAs` writes them, sorted by UTF-16 code units: graphemes that begin in
   * the same way are neighbours.
   */
  readonly graphemes: readonly string[];
  /** The rules of each grapheme, in order of precedence. */
  readonly rules: readonly (readonly LexiconRule[])[];
}

export const compileLexicon = ({ lang, rules }: LexiconRules): CompiledLexicon => {
  const sorted = [
    ...Map.groupBy(rules, ({ grapheme }) => Array.from(grapheme, sameAs).join("").replace(/ +/g, " ")),
  ].sort(([a], [b]) => (a < b ? -1 : 1));
  return { lang, graphemes: sorted.map(([grapheme]) => grapheme), rules: sorted.map(([, same]) => same) };
};

/** The character that stands for all that match it. */
const sameAs = (character: string): string => {
  if (character === "’" || character === "ʼ") return "'";
  return isBlank(character) ? " " : character;
};

const isBlank = (character: string | undefined): boolean =>
  character !== undefined && (character <= " " || character >= "\u0085") && /^[\s\x85]$/.test(character);

/**
 * Reads a text once per lexicon. At each word, it also reads ahead, by at most the length of a
 * grapheme.
 */
export const createFindReplacements =
  (lexicons: readonly CompiledLexicon[]): FindReplacements =>
  (characters, voice) => {
    const spoken = lexicons.filter(({ lang }) => lang === undefined || isInRange(voice.lang, lang));
    const replacements: Replacement[] = [];
    for (let at = 0; at < characters.length; ) {
      let longest: Replacement | undefined;
      for (const lexicon of isBoundary(characters, at) ? spoken : []) {
        const found = longestAt(lexicon, characters, at, voice);
        if (found && found.to > (longest?.to ?? at)) longest = found;
      }
      if (longest) replacements.push(longest);
      at = longest?.to ?? at + 1;
    }
    return replacements;
  };

/**
 * Narrows, character by character, the range of graphemes that begin as the text does at `from`.
 */
const longestAt = (
  { graphemes, rules }: CompiledLexicon,
  characters: readonly string[],
  from: number,
  voice: VoiceTraits,
): Replacement | undefined => {
  let found: Replacement | undefined;
  let [low, high, length] = [0, graphemes.length, 0];
  for (let to = from; low < high && to < characters.length; ) {
    const character = sameAs(characters[to++] ?? "");
    const start = length;
    length += character.length;
    const partOf = (index: number): string => graphemes[index]?.slice(start, length) ?? "";
    if (partOf(low) !== character || partOf(high - 1) !== character) {
      low = firstIndex(low, high, (index) => partOf(index) >= character);
      high = firstIndex(low, high, (index) => partOf(index) > character);
    }
    // Further blanks are read only if a grapheme has a blank there.
    if (character === " " && low < high) while (isBlank(characters[to])) to++;
    if (low === high || graphemes[low]?.length !== length) continue;
    const by = isBoundary(characters, to) && pronunciationOf(rules[low] ?? [], voice);
    if (by) found = { from, to, by };
    low++;
  }
  return found;
};

/** A binary search for the first index from which `isReached` holds; `high` if there is none. */
const firstIndex = (low: number, high: number, isReached: (index: number) => boolean): number => {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isReached(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
};

const pronunciationOf = (rules: readonly LexiconRule[], voice: VoiceTraits): Pronunciation | undefined => {
  for (const { alias, phoneme, alphabet = "ipa" } of rules) {
    if (phoneme !== undefined && voice.takesPhonemes) return { phoneme, alphabet };
    if (alias !== undefined) return { alias };
  }
  return undefined;
};

const ofWord = /^[\p{L}\p{N}]$/u;
/** A character that belongs to the one before it. */
const extender = /^[\p{M}\p{Emoji_Modifier}\u200d]$/u;
/** Scripts that write words without blanks between them. */
const unspaced =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]$/u;

/** True if a word may begin or end before the character. */
const isBoundary = (characters: readonly string[], at: number): boolean => {
  const after = characters[at];
  if (after === undefined || at === 0) return true;
  if (extender.test(after)) return false;
  if (!ofWord.test(after) || unspaced.test(after)) return true;
  let before = at - 1;
  while (before > 0 && extender.test(characters[before] ?? "")) before--;
  const last = characters[before] ?? "";
  return !ofWord.test(last) || unspaced.test(last);
};

/**
 * Returns a SHA-256 (hex). Of the lexicons, nothing else has an effect on the audio and the word
 * timings of a text.
 */
export const replacementsDigest = (replacements: readonly Replacement[]): string => {
  const listed = replacements.map(({ from, to, by }) =>
    "alias" in by ? [from, to, by.alias] : [from, to, by.alphabet, by.phoneme],
  );
  return hash("sha256", JSON.stringify(listed));
};
