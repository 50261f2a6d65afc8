import { Invalid } from "../../domain/errors.ts";

/** How much goes into one call of a provider or a local tool. */
export interface PieceLimits {
  /** Of the whole is the sum of its parts: bytes, characters, seconds. */
  readonly measure: (text: string) => number;
  /** No piece measures more. */
  readonly max: number;
  /** A piece that measures so much ends with its sentence. Without it pieces are as large as they may be. */
  readonly target?: (index: number) => number;
}

/**
 * The text in pieces that give it back when they are joined: cut between sentences, in a sentence that is too large
 * between clauses, in such a clause between words, in such a word between characters as a reader sees them. Never within one.
 * @throws {Invalid} path `text`: one such character is too large
 */
export const splitText = (text: string, lang: string, limits: PieceLimits): string[] => {
  if (text !== "" && !limits.target && limits.measure(text) <= limits.max) return [text];
  return pack(sentences(text, lang, limits), limits);
};

/** What pieces are made of: sentences, and of those that are too large the parts. */
export const sentences = (text: string, lang: string, limits: PieceLimits): string[] =>
  sentencesOf(text, lang).flatMap((sentence) =>
    fitting(sentence, ["sentence", "clause", "word", "grapheme"], lang, limits),
  );

/**
 * For a listener who waits: the first sentence or two, then always twice as much, so that the next piece is made in the
 * time that the one before takes to be heard.
 */
export const doubling =
  (first: number) =>
  (index: number): number =>
    first * 2 ** index;

/** In UTF-8. */
export const utf8Length = (text: string): number => Buffer.byteLength(text);

/** Neighbours together, as long as they are within the limits. */
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

/** `sentence`: as Unicode has them, where what was taken for one is too large after all. */
type Granularity = "sentence" | "clause" | "word" | "grapheme";

/** What is too large, in parts that are not; each as large as it may be. */
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
 * A long number is read digit by digit, a short one as a number: in parts of one size all are long. As few parts as
 * `most` allows, or one more.
 */
const evenShare = (parts: readonly string[], { measure, max }: PieceLimits): number => {
  const sizes = parts.map(measure);
  const whole = sizes.reduce((sum, size) => sum + size, 0);
  const largest = sizes.reduce((most, size) => Math.max(most, size), 0);
  return Math.min(max, Math.ceil(whole / Math.ceil(whole / max)) + largest - 1);
};

const tooLarge = (): Invalid =>
  new Invalid([{ path: ["text"], message: "The text has a character in it that is too large to be sent." }]);

/** Unicode ends a sentence at every full stop before a capital, and at every line's end. */
const sentencesOf = (text: string, lang: string): string[] => {
  const sentences: string[] = [];
  for (const next of segments(text, "sentence", lang)) {
    const previous = sentences.at(-1);
    if (previous !== undefined && isContinuation(previous, next)) sentences.splice(-1, 1, previous + next);
    else sentences.push(next);
  }
  return sentences;
};

/**
 * After `Mr. ` or an initial, and where the next line begins small: a cut there would be heard. Georgian letters count as
 * small ones, and begin every sentence.
 */
const isContinuation = (previous: string, next: string): boolean =>
  /(?<!\p{L})\p{Lu}\p{L}?\.\s*$/u.test(previous.slice(-16)) ||
  /^\s*(?!\p{Script=Georgian})\p{Ll}/u.test(next);

const segments = (text: string, granularity: Granularity, lang: string): string[] =>
  granularity === "clause" ? clausesOf(text) : segmentsOf(text, granularity, lang);

/** After a comma and its like, where a speaker pauses: before a blank, so not within `1,000`, or wide as in Chinese. */
const clausesOf = (text: string): string[] => text.split(/(?<=[,;:،؛–—]\s+)(?!\s)|(?<=[、，；：])/u);

const segmentsOf = (text: string, granularity: Exclude<Granularity, "clause">, lang: string): string[] =>
  Array.from(segmenter(granularity, lang).segment(text), ({ segment }) => segment);

const segmenter = (granularity: Exclude<Granularity, "clause">, lang: string): Intl.Segmenter => {
  try {
    return new Intl.Segmenter(lang, { granularity });
  } catch {
    return new Intl.Segmenter("en", { granularity }); // a name of a language that Intl cannot read
  }
};
