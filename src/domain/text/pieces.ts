import { Invalid } from "../errors.ts";
import { sentencesOf } from "./sentences.ts";

/** Limits of one request to a provider or local tool. */
export interface PieceLimits {
  /** Returns the size of a text: its bytes, characters or seconds. Sizes of parts must add up. */
  readonly measure: (text: string) => number;
  /** The largest piece. */
  readonly max: number;
  /**
   * Returns the target size of the piece with this index: the sentence that reaches it is the
   * piece's last one. Default: pieces are as large as possible.
   */
  readonly target?: (index: number) => number;
}

/**
 * Splits a text between sentences. A sentence that is too large is split between clauses, a clause
 * between words, and a word between graphemes. Joined, the pieces are the text.
 * @throws {Invalid} for `text`, if a grapheme is too large
 */
export const splitText = (text: string, lang: string, limits: PieceLimits): string[] => {
  if (text !== "" && !limits.target && limits.measure(text) <= limits.max) return [text];
  return pack(sentences(text, lang, limits), limits);
};

/** Returns the sentences of a text. A sentence that is too large is divided into parts. */
export const sentences = (text: string, lang: string, limits: PieceLimits): string[] =>
  sentencesOf(text, lang).flatMap((sentence) =>
    fitting(sentence, ["sentence", "clause", "word", "grapheme"], lang, limits),
  );

/**
 * Streams begin with one or two sentences, then each piece is twice as long, so that it is
 * synthesized while the one before it is played.
 */
export const doubling =
  (first: number) =>
  (index: number): number =>
    first * (1 << Math.min(index, 30));

export const utf8Length = (text: string): number => Buffer.byteLength(text);

/** Joins neighbours within the limits. */
export const pack = (
  parts: readonly string[],
  { measure, max, target = () => Number.POSITIVE_INFINITY }: PieceLimits,
): string[] => {
  const pieces: string[] = [];
  let open = "";
  let size = 0;
  for (const part of parts) {
    const more = measure(part);
    if (open !== "" && (size + more > max || size >= target(pieces.length))) {
      pieces.push(open);
      open = "";
      size = 0;
    }
    open += part;
    size += more;
  }
  return open === "" ? pieces : [...pieces, open];
};

/**
 * `sentence` divides by the rules of Unicode alone: `sentencesOf` may have merged such sentences.
 */
type Granularity = "sentence" | "clause" | "word" | "grapheme";

/** Splits a text into parts that fit, each as large as possible. */
const fitting = (
  text: string,
  [granularity, ...finer]: readonly Granularity[],
  lang: string,
  { measure, max }: PieceLimits,
): string[] => {
  if (measure(text) <= max) return [text];
  if (!granularity) throw tooLarge();
  const parts = segments(text, granularity, lang).flatMap((part) =>
    fitting(part, finer, lang, { measure, max }),
  );
  const share = granularity === "grapheme" ? evenShare(parts, { measure, max }) : max;
  return pack(parts, { measure, max: share });
};

/**
 * Returns a maximum at which the parts of a long word have about the same size, so that none is
 * short: tools read long numbers digit by digit, but short ones as numbers.
 */
const evenShare = (parts: readonly string[], { measure, max }: PieceLimits): number => {
  const sizes = parts.map(measure);
  const whole = sizes.reduce((sum, size) => sum + size, 0);
  const largest = sizes.reduce((most, size) => Math.max(most, size), 0);
  return Math.min(max, Math.ceil(whole / Math.ceil(whole / max)) + largest - 1);
};

const tooLarge = (): Invalid =>
  new Invalid([{ path: ["text"], message: "The text contains a character that is too large to be sent." }]);

const segments = (text: string, granularity: Granularity, lang: string): string[] =>
  granularity === "clause" ? clausesOf(text) : segmentsOf(text, granularity, lang);

/** Divides a text as Unicode does, without exceptions. */
export const segmentsOf = (
  text: string,
  granularity: Exclude<Granularity, "clause">,
  lang: string,
): string[] => Array.from(segmenter(granularity, lang).segment(text), ({ segment }) => segment);

/**
 * A clause ends after a comma or similar before a space (not within `1,000`), or after its wide
 * form, but never before a character that continues a grapheme cluster (U+200D, combining marks,
 * skin tones). `(?!\s)` comes first: otherwise, at each blank of a run, the search for the comma
 * would begin again.
 */
const clausesOf = (text: string): string[] =>
  text.split(
    /(?:(?!\s)(?<=[,;:،؛–—]\s+)|(?<=[、，；：]))(?![\u200d\p{M}\p{Grapheme_Extend}\p{Emoji_Modifier}])/u,
  );

/** Returns the words, each as a range of the characters. `to` is exclusive. */
export const placedWords = (characters: readonly string[], lang: string) => {
  let to = 0;
  const found = segmenter("word", lang).segment(characters.join(""));
  return Array.from(found, ({ segment, isWordLike }) => {
    const from = to;
    to += Array.from(segment).length;
    return { from, to, isWordLike };
  });
};

const segmenter = (granularity: Exclude<Granularity, "clause">, lang: string): Intl.Segmenter => {
  try {
    return new Intl.Segmenter(lang, { granularity });
  } catch {
    return new Intl.Segmenter("en", { granularity }); // an invalid language tag
  }
};
