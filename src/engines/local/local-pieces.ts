import { Invalid } from "../../domain/errors.ts";
import type { Prosody } from "../../domain/synthesis/speech.ts";
import { doubling, type PieceLimits, splitText } from "../../domain/text/pieces.ts";
import { splitSsml } from "../../domain/text/ssml-pieces.ts";
import { timesProsody } from "../../domain/text/ssml-prosody.ts";
import type { Run } from "../../domain/text/ssml-runs.ts";
import type { Boundary, LocalVoice } from "./local-tool.ts";

/** A part of a run. */
export interface LocalPiece extends Pick<Run, "text" | "ssml" | "pauseMs"> {
  /** The prosody of the request and the document together. */
  readonly prosody: Prosody;
  readonly voice: LocalVoice;
  /** Its boundaries; undefined at the ends of the text. */
  readonly before: Boundary | undefined;
  readonly after: Boundary | undefined;
}

/** flite, the slower tool, takes about half a second for a piece of this cost. */
const defaultMaxCost = 300;
/**
 * The cost of the first piece of a long text: about three seconds of speech. The first pieces are
 * short, so that a long text begins as soon as a sentence does.
 */
const first = 40;

/**
 * Splits runs into pieces for their local tools.
 * @throws {Invalid} for `text`, if an SSML element is too large
 */
export const localPieces = (
  runs: readonly Run[],
  prosody: Prosody,
  voiceOf: (speaker: Run["speaker"]) => LocalVoice,
): readonly LocalPiece[] => {
  const parts = runs.flatMap((run) =>
    partsOf({ ...run, prosody: timesProsody(prosody, run.prosody) }, voiceOf(run.speaker)),
  );
  return joined(parts);
};

/** Divides a piece into at least two smaller ones. Returns none if it is indivisible. */
export const dividePiece = (piece: LocalPiece): readonly LocalPiece[] => {
  const { ssml, voice, before, after } = piece;
  const measure = (part: string): number => (ssml ? withoutTags(part) : part).length;
  try {
    const limits = { measure, max: Math.ceil(measure(piece.text) / 2) };
    const parts = joined(splitRun({ ...piece, continues: false }, voice, limits));
    const last = parts.length - 1;
    if (last < 1) return [];
    return parts.map((part, at) => ({ ...part, ...(at === 0 && { before }), ...(at === last && { after }) }));
  } catch (error) {
    if (error instanceof Invalid) return []; // an element or a grapheme is too large
    throw error;
  }
};

const joined = (parts: readonly Part[]): readonly LocalPiece[] => {
  const joints = parts.slice(1).map((next, index) => jointOf(parts[index] ?? next, next));
  return parts.map(({ continues, ...part }, index) => ({
    ...part,
    before: joints[index - 1],
    after: joints[index],
  }));
};

type Part = Omit<LocalPiece, "before" | "after"> & Pick<Run, "continues">;

const partsOf = (run: Run, voice: LocalVoice): Part[] => {
  const { text, ssml } = run;
  const { tool, lang } = voice;
  // `splitText` measures each sentence twice, and `tool.cost` is slow.
  const costs = new Map<string, number>();
  const measure = (part: string): number => {
    const cost = costs.get(part) ?? tool.cost(ssml ? withoutTags(part) : part, lang);
    costs.set(part, cost);
    return cost;
  };
  const target = tool.bySentence ? () => 1 : doubling(first);
  const max = tool.maxCost ?? defaultMaxCost;
  const limits: PieceLimits = {
    ...{ measure, max },
    ...((tool.bySentence || measure(text) > max) && { target }),
  };
  return splitRun(run, voice, limits);
};

const splitRun = (
  { text, ssml, prosody, pauseMs, continues }: Omit<Run, "speaker">,
  voice: LocalVoice,
  limits: PieceLimits,
): Part[] => {
  const { lang } = voice;
  const pieces = ssml ? splitSsml(text, lang, limits) : splitText(text, lang, limits);
  return pieces.map((piece, index) => ({
    ...{ text: piece, ssml, prosody, voice },
    continues:
      index === 0
        ? continues
        : !ssml || !(endsInPause.test(pieces[index - 1] ?? "") || beginsWithPause.test(piece)),
    pauseMs: {
      before: index === 0 ? pauseMs.before : 0,
      after: index === pieces.length - 1 ? pauseMs.after : 0,
    },
  }));
};

export const withoutTags = (document: string): string => document.replace(/<[^>]*>/g, "");

/**
 * Returns the text that the tool gets. Closing quotes and brackets at the end of a text would
 * double espeak-ng's pause.
 */
export const spokenPart = ({ text, ssml, after }: LocalPiece): string =>
  after === "sentence" && !ssml ? text.replace(closing, "$1") : text;

const jointOf = ({ text, ssml }: Part, { continues }: Part): Boundary => {
  const said = ssml ? withoutTags(text) : text;
  if (!continues || sentenceEnd.test(said)) return "sentence";
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
