import { isSsml } from "../domain/text/is-ssml.ts";
import type { sentencesOf } from "../domain/text/sentences.ts";

/**
 * A text that is spoken as one, such as a paragraph. Offsets and lengths count UTF-16 code units.
 */
export interface TextSection {
  readonly text: string;
  /** The language (BCP-47) that the page declares for it, which may be wrong. */
  readonly lang?: string | undefined;
  /** The voice that must speak it. Default: the one that `speak` selects for its language. */
  readonly voice?: string | undefined;
  /** Its words in other languages, in their order. */
  readonly spans?: readonly LanguageSpan[] | undefined;
}

export interface LanguageSpan {
  readonly charIndex: number;
  readonly charLength: number;
  readonly lang: string;
}

/**
 * A part of a text that is synthesized by one request. `charIndex` and lengths count UTF-16 code
 * units.
 */
export interface TextPart {
  readonly index: number;
  /** The offset of the part in the text. */
  readonly charIndex: number;
  readonly text: string;
  /** The offset in the part at which its playback begins, if not at its beginning. */
  readonly startAt?: number;
  /** Its words in other languages. Absent if there are none. */
  readonly spans?: readonly LanguageSpan[];
}

/** Sections are at the offsets that they have in a text that joins them by this. */
export const sectionSeparator = "\n\n";

/**
 * A part of this length (UTF-16 code units) is long enough to sound coherent, and short enough to
 * be synthesized quickly.
 */
const defaultMaxLength = 280;

interface PartOptions {
  readonly lang?: string | undefined;
  readonly maxLength?: number;
  /** Default: Unicode's rules, which know no abbreviations. */
  readonly findSentences?: typeof sentencesOf | undefined;
}

/**
 * Splits a text between paragraphs and sentences, and a sentence that is too long between words.
 * Blank lines always separate parts, so a paragraph has the same parts in every text. SSML is one
 * part of any length, because a fragment of it would not be well-formed.
 */
export const textParts = (
  text: string,
  { lang, maxLength = defaultMaxLength, findSentences }: PartOptions = {},
): TextPart[] => {
  const locale = usableLocale(lang);
  const bySentence = findSentences && ((text: string) => findSentences(text, lang ?? "en"));
  const options = { locale, maxLength, findSentences: bySentence };
  const segments = isSsml(text) ? [text] : text.split(/(\n\s*\n)/).flatMap((one) => split(one, options));
  const parts: TextPart[] = [];
  let offset = 0;
  for (const segment of segments) {
    const trimmed = segment.trim();
    if (trimmed !== "")
      parts.push({ index: parts.length, charIndex: offset + segment.indexOf(trimmed), text: trimmed });
    offset += segment.length;
  }
  return parts;
};

/**
 * Splits sections, each in its language, by the service's rules for sentences, which are loaded if
 * one is long. A copy of the library without these rules uses those of Unicode.
 */
export const loadTextParts = async (sections: readonly TextSection[]): Promise<TextPart[][]> => {
  const isLong = sections.some(({ text }) => text.length > defaultMaxLength && !isSsml(text));
  const rules = isLong ? await import("./sentences.ts").catch(() => undefined) : undefined;
  let [index, charIndex] = [0, 0];
  return sections.map(({ text, lang, spans = [] }) => {
    const parts = textParts(text, { lang, findSentences: rules?.sentencesOf }).map((part) => {
      const inPart = spansWithin(part, spans);
      const moved = { ...part, index: index + part.index, charIndex: charIndex + part.charIndex };
      return inPart.length > 0 ? { ...moved, spans: inPart } : moved;
    });
    index += parts.length;
    charIndex += text.length + sectionSeparator.length;
    return parts;
  });
};

const spansWithin = ({ charIndex, text }: TextPart, spans: readonly LanguageSpan[]): LanguageSpan[] =>
  spans.flatMap(({ charIndex: from, charLength, lang }) => {
    const start = Math.max(from - charIndex, 0);
    const end = Math.min(from - charIndex + charLength, text.length);
    return start < end ? [{ charIndex: start, charLength: end - start, lang }] : [];
  });

interface SplitOptions {
  readonly findSentences: ((text: string) => string[]) | undefined;
  readonly locale: string | undefined;
  readonly maxLength: number;
}

const granularities = ["sentence", "word", "grapheme"] as const;

/**
 * Packs as many segments as fit into each piece. A segment that is too long is split at the next
 * granularity.
 */
const split = (text: string, options: SplitOptions, level = 0): string[] => {
  const granularity = granularities[level];
  if (text.length <= options.maxLength || granularity === undefined) return [text];
  const pieces: string[] = [];
  let piece = "";
  const segments =
    granularity === "sentence" && options.findSentences
      ? options.findSentences(text)
      : segmentsOf(text, options.locale, granularity);
  for (const segment of segments) {
    if (piece.length + segment.length <= options.maxLength) {
      piece += segment;
      continue;
    }
    if (piece !== "") pieces.push(piece);
    const smaller = split(segment, options, level + 1);
    piece = smaller.pop() ?? "";
    pieces.push(...smaller);
  }
  return piece === "" ? pieces : [...pieces, piece];
};

/** Attaches punctuation and spaces to the word before them, so that no part starts with a comma. */
function* segmentsOf(
  text: string,
  locale: string | undefined,
  granularity: (typeof granularities)[number],
): Generator<string> {
  let pending = "";
  for (const { segment, isWordLike } of new Intl.Segmenter(locale, { granularity }).segment(text)) {
    if (pending !== "" && (granularity !== "word" || isWordLike)) {
      yield pending;
      pending = "";
    }
    pending += segment;
  }
  if (pending !== "") yield pending;
}

const usableLocale = (lang: string | undefined): string | undefined => {
  try {
    return Intl.getCanonicalLocales(lang)[0];
  } catch {
    return undefined; // the service validates the language
  }
};
