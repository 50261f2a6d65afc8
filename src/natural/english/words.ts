import { numberNames } from "../../domain/text/preparation/english/number-words.ts";
import { isNumeric } from "./letters.ts";
import type { Lexicon } from "./lexicon.ts";
import { primary, startOf, weakened, weightOf } from "./stress.ts";

/** Consecutive letters, digits or signs of a word. */
export interface Part {
  readonly text: string;
  /** Its part of speech. */
  readonly tag: string;
  /** The position in UTF-16 code units of the text. */
  readonly start: number;
}

/** The text after a word, as far as the word's own pronunciation depends on it. */
export interface Following {
  /** Undefined for a pause. */
  readonly beforeVowel: boolean | undefined;
  readonly beforeTo: boolean;
}

export interface WordReaders {
  readonly lexicon: Lexicon;
  /** `isFirst`: nothing precedes the number in its word. */
  readonly sayNumber: (digits: string, isFirst: boolean) => string | undefined;
  readonly spellUnknown: (letters: string) => Promise<string>;
}

/**
 * Reads a run without blanks from its end: the longest known ending, then the longest one before
 * it, and so on. A word with an unknown part is unknown as a whole.
 */
export const readWord = async (word: readonly Part[], following: Following, readers: WordReaders) => {
  const spans: Span[] = [];
  let next = following;
  for (let end = word.length; end > 0; ) {
    const span = longestKnown(word, end, next, readers);
    if (span) {
      spans.unshift(span);
      next = followingOf(span.phonemes, span.text, next);
      end -= span.size;
    } else if (joint.test(word[end - 1]?.text ?? "")) end--;
    else {
      const phonemes = await readUnknown(textOf(word), readers);
      return { phonemes, following: followingOf(phonemes, textOf(word), following) };
    }
  }
  return { phonemes: joinSpans(spans, textOf(word)), following: next };
};

/** Describes a word and the text after it, for the reading of the word before it. */
export const followingOf = (phonemes: string, text: string, after: Following): Following => {
  const start = startOf(phonemes);
  return {
    beforeVowel: start === undefined ? after.beforeVowel : start === "pause" ? undefined : start === "vowel",
    beforeTo: /^(?:[Tt]o|TO)$/.test(text),
  };
};

/** Parts of a word that a reader knows. */
interface Span {
  readonly text: string;
  readonly firstPart: string;
  /** The number of parts. */
  readonly size: number;
  readonly phonemes: string;
}

const textOf = (word: readonly Part[]): string => word.map(({ text }) => text).join("");

/** Signs that are not heard. */
const joint = /^[',\-._‘’/]+$/;

const longestKnown = (
  word: readonly Part[],
  end: number,
  following: Following,
  { lexicon, sayNumber }: WordReaders,
): Span | undefined => {
  for (let start = 0; start < end; start++) {
    const parts = word.slice(start, end);
    const text = textOf(parts).replace(/[‘’]/g, "'").normalize("NFKC");
    if (compoundNumber.test(text)) continue;
    const phonemes = lexicon.find(text, { ...following, tag: tagOf(parts) }) ?? sayNumber(text, start === 0);
    if (phonemes !== undefined) return { text, firstPart: parts[0]?.text ?? "", size: end - start, phonemes };
  }
  return undefined;
};

/** Returns the tag of the largest part. Capital letters count twice. */
const tagOf = (parts: readonly Part[]): string => {
  const sizeOf = ({ text }: Part): number => text.length + (text.match(/\p{Lu}/gu)?.length ?? 0);
  return parts.reduce((one, other) => (sizeOf(other) > sizeOf(one) ? other : one)).tag;
};

/**
 * Joins the parts of a word. Parts of different kinds are joined with blanks. Parts of one kind are
 * joined without blanks, and about half of them lose their primary stress.
 */
const joinSpans = (spans: readonly Span[], text: string): string => {
  const kinds = new Set(Array.from(text.replace(/[',\-._‘’/]/g, ""), kindOf));
  const spoken = spans.filter(({ phonemes }) => phonemes !== "");
  if (text.includes("/") || kinds.size > 1 || compoundNumber.test(text))
    return spoken.map(({ phonemes }) => phonemes).join(" ");
  const weak = weakSpans(spoken);
  return spoken.map((span) => (weak.has(span) ? weakened(span.phonemes) : span.phonemes)).join("");
};

/**
 * The preparation writes numbers in words: "twenty-one" is read as 21, and "mid-nineteen sixties"
 * as mid-1960s.
 */
const compoundNumber = new RegExp(
  `^(?:twen|thir|for|fif|six|seven|eigh|nine)ty-|-(?:${numberNames.join("|")})$`,
  "i",
);

const kindOf = (character: string): string =>
  /\p{L}/u.test(character) ? "letter" : isNumeric(character) ? "digit" : "sign";

const weakSpans = (spans: readonly Span[]): ReadonlySet<Span> => {
  const [first, second] = spans;
  if (first && second && spans.length === 2 && first.firstPart.length === 1) return new Set([second]);
  const isStressed = ({ phonemes }: Span): boolean => phonemes.includes(primary);
  if (spans.length < 2 || spans.filter(isStressed).length <= Math.floor((spans.length + 1) / 2))
    return new Set();
  const rank = (span: Span): number => (isStressed(span) ? 1000 : 0) + weightOf(span.phonemes);
  return new Set(spans.toSorted((a, b) => rank(a) - rank(b)).slice(0, Math.floor(spans.length / 2)));
};

const pieces = /\p{L}[\p{L}\p{M}]*(?:['’]\p{L}+)*|\d+(?:[,.]\d+)*|[^\p{L}\p{N}\s]/gu;

const readUnknown = async (
  text: string,
  { lexicon, sayNumber, spellUnknown }: WordReaders,
): Promise<string> => {
  const spoken: string[] = [];
  for (const [piece] of text.normalize("NFKC").matchAll(pieces)) {
    const isWord = /^\p{L}/u.test(piece);
    const phonemes = isWord
      ? await spellUnknown(piece)
      : (sayNumber(piece, false) ?? (/^\d/.test(piece) ? "" : lexicon.find(piece, {})));
    if (phonemes) spoken.push(phonemes);
  }
  return spoken.join(" ");
};
