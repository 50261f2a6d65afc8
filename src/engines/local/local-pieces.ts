import { doubling, type PieceLimits, splitText } from "../../domain/text/pieces.ts";
import { splitSsml } from "../../domain/text/ssml-pieces.ts";
import type { SpeechRequest } from "../engine.ts";

/** The boundary between two pieces; a tool's `pauses` shorten the silence there. */
export type Boundary = "sentence" | "clause" | "word";

export interface LocalPiece {
  readonly text: string;
  /** Its boundaries; undefined at the ends of the text. */
  readonly before: Boundary | undefined;
  readonly after: Boundary | undefined;
}

/** flite, the slower tool, takes about half a second for a piece of this cost. */
const max = 300;
/** The first pieces of a long text are short, so that it begins as soon as a sentence does: about three seconds. */
const first = 40;

/**
 * Splits a text or SSML document into pieces for a local tool. `cost`: see LocalTool; `bySentence`: a piece is at most one
 * sentence. @throws {Invalid} path `text`: an SSML element is too large
 */
export const localPieces = (
  { text, ssml, lang }: Pick<SpeechRequest, "text" | "ssml" | "lang">,
  cost: (text: string) => number,
  bySentence = false,
): readonly LocalPiece[] => {
  const measure = (part: string): number => cost(ssml ? withoutTags(part) : part);
  const target = bySentence ? () => 1 : doubling(first);
  const limits: PieceLimits = { measure, max, ...((bySentence || measure(text) > max) && { target }) };
  const pieces = ssml ? splitSsml(text, lang, limits) : splitText(text, lang, limits);
  const joints = pieces.slice(1).map((next, index) => jointOf(pieces[index] ?? "", next, ssml));
  return pieces.map((piece, index) => ({ text: piece, before: joints[index - 1], after: joints[index] }));
};

export const withoutTags = (document: string): string => document.replace(/<[^>]*>/g, "");

/**
 * What the tool gets of a piece. Closing quotes and brackets at the end of a text would double espeak-ng's pause.
 */
export const spokenPart = ({ text, after }: LocalPiece, ssml: boolean): string =>
  after === "sentence" && !ssml ? text.replace(closing, "$1") : text;

const jointOf = (piece: string, next: string, ssml: boolean): Boundary => {
  if (ssml && (endsInPause.test(piece) || beginsWithPause.test(next))) return "sentence";
  const said = ssml ? withoutTags(piece) : piece;
  if (sentenceEnd.test(said)) return "sentence";
  return clauseEnd.test(said) ? "clause" : "word";
};

/** Quotes and brackets; a German quotation ends with the sign that begins an English one. */
const closers = "[\\p{Pe}\\p{Pf}\\p{Pi}\"']*\\s*$";
const sentenceEnd = new RegExp(`(?:\\p{Sentence_Terminal}|…)${closers}|[\\n\\u2028\\u2029]\\s*$`, "u");
const closing = /[\p{Pe}\p{Pf}\p{Pi}"']+(\s*)$/u;
const clauseEnd = new RegExp(`(?:\\p{Terminal_Punctuation}|\\p{Pd}\\s|[–—])${closers}`, "u");
/** A break, or the end of a paragraph or sentence, followed only by closing tags. */
const endsInPause = /(?:<break[^>]*>|<\/[ps]>)(?:<\/[^>]*>)*$/;
const beginsWithPause = /^(?:<(?!break|[ps]>)[^>]*>)*<(?:break|[ps]>)/;
