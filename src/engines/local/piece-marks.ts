import type { Mark } from "../../domain/synthesis/marks.ts";
import { firstEndingAfter, placeMarks, type SpokenEvent } from "../../domain/text/place-marks.ts";
import { type SpokenText, spokenText } from "../../domain/text/spoken-text.ts";
import type { SpeechEvent } from "../../subprocess/espeak.ts";
import type { SpeechRequest } from "../engine.ts";
import type { LocalPiece } from "./local-pieces.ts";

/** What is reported about one piece. */
export interface PieceReport {
  events: readonly SpeechEvent[] | undefined;
  /** Samples that were dropped from its start. */
  dropped: number;
  /** Samples that it contributes to the sound. */
  length: number;
}

/** Puts the events of the pieces together: their places in the text, their times in the sound. */
export const collectPieceMarks = (
  whole: SpokenText,
  { ssml, lang }: Pick<SpeechRequest, "ssml" | "lang">,
  pieces: readonly LocalPiece[],
) => {
  const reports = new Map<LocalPiece, PieceReport>();
  return {
    /** A new report of the piece, which replaces an earlier one. */
    begin: (piece: LocalPiece): PieceReport => {
      const report = { events: undefined, dropped: 0, length: 0 };
      reports.set(piece, report);
      return report;
    },
    /** After the end of the sound; undefined if the tool reports no events. */
    marks: (sampleRate: number): readonly Mark[] | undefined => {
      const events: SpokenEvent[] = [];
      let at = 0;
      let sample = 0;
      for (const piece of pieces) {
        const part = spokenText(piece.text, ssml);
        const report = reports.get(piece);
        if (report && report.length > 0) {
          if (!report.events) return undefined;
          events.push(...eventsOf(piece, part, report, { at, sample, sampleRate }));
          sample += report.length;
        }
        at += part.characters.length;
      }
      // The pieces are the text: otherwise no place would be right.
      return at === whole.characters.length ? placeMarks(whole, events, lang) : undefined;
    },
  };
};

const eventsOf = (
  { before }: LocalPiece,
  part: SpokenText,
  { events = [], dropped, length }: PieceReport,
  { at, sample, sampleRate }: { readonly at: number; readonly sample: number; readonly sampleRate: number },
): SpokenEvent[] => {
  // A piece that begins within a sentence: the tool takes it for another one.
  const isWithin = before === "clause" || before === "word";
  const first = events.findIndex(({ kind }) => kind === "sentence");
  return events
    .filter((_, index) => !(isWithin && index === first))
    .map(({ kind, position, sample: own }) => ({
      kind,
      at: at + characterAt(part, position),
      seconds: (sample + Math.min(Math.max(0, own - dropped), length)) / sampleRate,
    }));
};

/** The index of the character that is written at this offset, or of the next one. */
const characterAt = ({ ends }: SpokenText, offset: number): number =>
  firstEndingAfter(offset, ends.length, (index) => ends[index] ?? 0);
