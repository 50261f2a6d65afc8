/** A part of a text, spoken at one go. `charIndex` and the lengths count UTF-16 units, as strings do. */
export interface TextPart {
  readonly index: number;
  /** Where it begins in the whole text. */
  readonly charIndex: number;
  readonly text: string;
}

/** Long enough to sound of a piece, short enough to be there soon. */
const longestPart = 280;

/**
 * Cuts a text where a speaker would draw breath: between sentences, and in a sentence that is too long between words.
 * SSML is one part, whatever its length, for no part of it would be well-formed.
 */
export const textParts = (text: string, lang?: string, longest = longestPart): TextPart[] => {
  const locale = usableLocale(lang);
  const pieces = isSsml(text) ? [text] : pack(text, { locale, longest });
  const parts: TextPart[] = [];
  let at = 0;
  for (const piece of pieces) {
    const spoken = piece.trim();
    if (spoken !== "")
      parts.push({ index: parts.length, charIndex: at + piece.indexOf(spoken), text: spoken });
    at += piece.length;
  }
  return parts;
};

/** The service's own rule: blanks, a byte order mark, a prolog and comments may precede `<speak`. */
const ssml = /^\s*(?:<[?!].*?)?<speak(?![^\s/>])/s;

/** Whether the service takes the text for SSML. */
export const isSsml = (text: string): boolean => ssml.test(text);

interface Cut {
  readonly locale: string | undefined;
  readonly longest: number;
}

const [sentences, ...finer] = ["sentence", "word", "grapheme"] as const;

/** Pieces as long as they may be, and whole segments where these are short enough. */
const pack = (
  text: string,
  cut: Cut,
  granularity: Intl.SegmenterOptions["granularity"] & string = sentences,
  rest: readonly (Intl.SegmenterOptions["granularity"] & string)[] = finer,
): string[] => {
  if (text.length <= cut.longest) return [text];
  const pieces: string[] = [];
  let piece = "";
  for (const segment of segments(text, cut.locale, granularity)) {
    if (piece.length + segment.length <= cut.longest) {
      piece += segment;
      continue;
    }
    if (piece !== "") pieces.push(piece);
    const [next, ...others] = rest;
    const cuts = next === undefined ? [segment] : pack(segment, cut, next, others);
    piece = cuts.pop() ?? "";
    pieces.push(...cuts);
  }
  return piece === "" ? pieces : [...pieces, piece];
};

/** A word takes along what stands between it and the next one, so that no part begins with a comma. */
function* segments(
  text: string,
  locale: string | undefined,
  granularity: Intl.SegmenterOptions["granularity"],
) {
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
    return undefined; // the service will say what is wrong with it
  }
};
