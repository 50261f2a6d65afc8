import type { Mark } from "../../domain/synthesis/marks.ts";
import { firstEndingAfter, placeMarks, type SpokenEvent } from "../../domain/text/place-marks.ts";
import { type SpokenText, spokenText } from "../../domain/text/spoken-text.ts";
import type { SpeechEvent } from "../../subprocess/espeak.ts";
import type { SpeechRequest } from "../engine.ts";
import type { LocalPiece } from "./local-pieces.ts";

/** What is reported about one piece. */
export interface PieceReport {
  events: readonly SpeechEvent[] | undefined;
  /** Of the tool's samples. */
  sampleRate: number;
  /** The tool's samples that were dropped from its start. */
  dropped: number;
  /** Samples that it contributes to the sound, and how many of them are the pause before it. */
  length: number;
  paused: number;
}

/** Puts the events of the pieces together: their places in the text, their times in the sound. */
export const collectPieceMarks = (
  whole: SpokenText,
  { lang }: Pick<SpeechRequest, "lang">,
  undivided: readonly LocalPiece[],
) => {
  const pieces = [...undivided];
  const reports = new Map<LocalPiece, PieceReport>();
  return {
    /** A new report of the piece, which replaces an earlier one. */
    begin: (piece: LocalPiece): PieceReport => {
      const report = { events: undefined, sampleRate: 0, dropped: 0, length: 0, paused: 0 };
      reports.set(piece, report);
      return report;
    },
    /** The piece is spoken in these parts instead, unless there are none. */
    divide: (piece: LocalPiece, parts: readonly LocalPiece[]): void => {
      if (parts.length > 0) pieces.splice(pieces.indexOf(piece), 1, ...parts);
    },
    /** After the end of the sound; undefined if no tool reports events. */
    marks: (sampleRate: number): readonly Mark[] | undefined => {
      const events: SpokenEvent[] = [];
      let at = 0;
      let sample = 0;
      let isReported = false;
      for (const piece of pieces) {
        const part = spokenText(piece.text, piece.ssml);
        const report = reports.get(piece);
        if (report && report.length > 0) {
          if (report.events) isReported = true;
          else if (piece.voice.tool.reportsEvents) return undefined;
          events.push(...eventsOf(piece, part, report, { at, sample, sampleRate }));
          sample += report.length;
        }
        at += part.characters.length;
      }
      // The pieces are the text: otherwise no place would be right.
      return isReported && at === whole.characters.length
        ? placeMarks(whole, events, lang, sample / sampleRate)
        : undefined;
    },
  };
};

const eventsOf = (
  { before }: LocalPiece,
  part: SpokenText,
  { events = unreported, dropped, length, paused, sampleRate: ownRate }: PieceReport,
  { at, sample, sampleRate }: { readonly at: number; readonly sample: number; readonly sampleRate: number },
): SpokenEvent[] => {
  // A piece that begins within a sentence: the tool takes it for another one.
  const isWithin = before === "clause" || before === "word";
  const first = events.findIndex(({ kind }) => kind === "sentence");
  const placed = events.map(({ kind, position, sample: own }) => ({
    kind,
    at: at + characterAt(part, position),
    seconds:
      (sample + Math.min(paused + Math.max(0, own - dropped) * (sampleRate / ownRate), length)) / sampleRate,
  }));
  const isBegun = (_: unknown, index: number): boolean => !(isWithin && index === first);
  if (events === unreported) return placed.filter(isBegun);
  const end = { at: at + part.characters.length, seconds: (sample + length) / sampleRate };
  let until = end;
  return placed
    .toReversed()
    .map((event) => {
      const joined = { ...event, until };
      if (event.kind === "word") until = { at: event.at, seconds: event.seconds };
      return joined;
    })
    .toReversed()
    .filter(isBegun);
};

/** Of a voice without events only the beginning of a piece is known. */
const unreported: readonly SpeechEvent[] = (["sentence", "word"] as const).map((kind) => {
  return { kind, position: 0, length: 0, sample: 0 };
});

/** The index of the character that is written at this offset, or of the next one. */
const characterAt = ({ ends }: SpokenText, offset: number): number =>
  firstEndingAfter(offset, ends.length, (index) => ends[index] ?? 0);
