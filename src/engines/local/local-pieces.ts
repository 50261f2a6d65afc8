import type { SpeechRequest } from "../engine.ts";
import { type PieceLimits, splitText } from "../text/pieces.ts";
import { splitSsml } from "../text/ssml-pieces.ts";

/** The boundary between two pieces: after a sentence the pause is the tool's own, otherwise it is shortened. */
export type Boundary = "sentence" | "clause" | "word";

export interface LocalPiece {
  readonly text: string;
  /** Its boundaries; undefined at the ends of the text. */
  readonly before: Boundary | undefined;
  readonly after: Boundary | undefined;
}

/** flite, the slower tool, takes about half a second for a piece of this cost. */
const max = 300;

/**
 * Splits a text or SSML document into pieces for a local tool. `cost`: see LocalTool. @throws {Invalid} path `text`:
 * an SSML element is too large
 */
export const localPieces = (
  { text, ssml, lang }: Pick<SpeechRequest, "text" | "ssml" | "lang">,
  cost: (text: string) => number,
): readonly LocalPiece[] => {
  const limits: PieceLimits = { measure: (part) => cost(ssml ? withoutTags(part) : part), max };
  const pieces = ssml ? splitSsml(text, lang, limits) : splitText(text, lang, limits);
  const joints = pieces.slice(1).map((next, index) => jointOf(pieces[index] ?? "", next, ssml));
  return pieces.map((piece, index) => ({ text: piece, before: joints[index - 1], after: joints[index] }));
};

const withoutTags = (document: string): string => document.replace(/<[^>]*>/g, "");

const jointOf = (piece: string, next: string, ssml: boolean): Boundary => {
  if (ssml && (endsInPause.test(piece) || beginsWithPause.test(next))) return "sentence";
  const said = ssml ? withoutTags(piece) : piece;
  if (sentenceEnd.test(said)) return "sentence";
  return clauseEnd.test(said) ? "clause" : "word";
};

const closers = "[\\p{Pe}\\p{Pf}\"']*\\s*$";
const sentenceEnd = new RegExp(`(?:\\p{Sentence_Terminal}|…)${closers}|[\\n\\u2028\\u2029]\\s*$`, "u");
const clauseEnd = new RegExp(`(?:\\p{Terminal_Punctuation}|\\p{Pd})${closers}`, "u");
/** A break, or the end of a paragraph or sentence, followed only by closing tags. */
const endsInPause = /(?:<break[^>]*>|<\/[ps]>)(?:<\/[^>]*>)*$/;
const beginsWithPause = /^(?:<(?!break|[ps]>)[^>]*>)*<(?:break|[ps]>)/;
