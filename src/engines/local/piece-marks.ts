import type { Mark } from "../../domain/synthesis/marks.ts";
import type { SpokenPhoneme } from "../../domain/synthesis/phonemes.ts";
import { firstEndingAfter, placeMarks, type SpokenEvent } from "../../domain/text/place-marks.ts";
import { type SpokenText, spokenText } from "../../domain/text/spoken-text.ts";
import type { SpeechEvent } from "../../subprocess/espeak.ts";
import type { PieceReport } from "../../subprocess/protocol.ts";
import type { SpeechRequest } from "../engine.ts";
import type { LocalPiece } from "./local-pieces.ts";

/** Puts the events of the pieces together: their places in the text, their times in the audio. */
export const collectPieceMarks = (
  whole: SpokenText,
  { lang }: Pick<SpeechRequest, "lang">,
  undivided: readonly LocalPiece[],
) => {
  const pieces = [...undivided];
  const reports = new Map<LocalPiece, PieceReport>();
  /** The spoken pieces with their places: characters before them, and samples. */
  const placed = (): PlacedPiece[] => {
    let at = 0;
    let sample = 0;
    return pieces.map((piece) => {
      const part = spokenText(piece.text, piece.ssml);
      const report = reports.get(piece);
      const place = { piece, part, report: report && report.length > 0 ? report : undefined, at, sample };
      at += part.characters.length;
      sample += place.report?.length ?? 0;
      return place;
    });
  };
  /** Checks that the pieces are the complete text: otherwise no place would be right. */
  const isComplete = (all: readonly PlacedPiece[]): boolean =>
    whole.characters.length === all.reduce((sum, { part }) => sum + part.characters.length, 0);
  return {
    /** Call it after the end of the audio, for each piece that was begun. */
    add: (piece: LocalPiece, report: PieceReport): void => void reports.set(piece, report),
    /** The piece is spoken in these parts instead, unless there are none. */
    divide: (piece: LocalPiece, parts: readonly LocalPiece[]): void => {
      if (parts.length > 0) pieces.splice(pieces.indexOf(piece), 1, ...parts);
    },
    /** Returns the marks after the end of the audio; undefined if no tool reports events. */
    marks: (sampleRate: number): readonly Mark[] | undefined => {
      const all = placed();
      const spoken = all.filter(isSpoken);
      if (spoken.some(({ piece, report }) => !report.events && piece.voice.tool.reportsEvents))
        return undefined;
      const events = spoken.flatMap((one) => eventsOf(one, sampleRate));
      const isReported = spoken.some(({ report }) => report.events);
      const samples = spoken.reduce((sum, { report }) => sum + report.length, 0);
      return isReported && isComplete(all)
        ? placeMarks(whole, events, lang, samples / sampleRate)
        : undefined;
    },
    /** Called after the end of the audio. */
    phonemes: (sampleRate: number): readonly SpokenPhoneme[] => {
      const all = placed();
      return isComplete(all) ? all.filter(isSpoken).flatMap((one) => phonemesOf(whole, one, sampleRate)) : [];
    },
  };
};

interface PlacedPiece {
  readonly piece: LocalPiece;
  readonly part: SpokenText;
  /** The report of the piece's tool; undefined if the piece is not spoken. */
  readonly report: PieceReport | undefined;
  /** The number of the text's characters before the piece, and of the audio's samples before it. */
  readonly at: number;
  readonly sample: number;
}

type SpokenPiece = PlacedPiece & { readonly report: PieceReport };

const isSpoken = (one: PlacedPiece): one is SpokenPiece => one.report !== undefined;

/** Seconds from the start of the audio until a sample of the tool. */
const secondsUntil = ({ sample, report }: SpokenPiece, own: number, sampleRate: number): number => {
  const { dropped, length, paused, sampleRate: ownRate } = report;
  const spoken = Math.max(0, own - dropped) * (sampleRate / ownRate);
  return (sample + Math.min(paused + spoken, length)) / sampleRate;
};

const phonemesOf = (whole: SpokenText, spoken: SpokenPiece, sampleRate: number): SpokenPhoneme[] => {
  const { part, at, report } = spoken;
  return (report.events ?? []).flatMap(({ kind, position, length, sample, value }) => {
    if (kind !== "phoneme" || value === undefined) return [];
    const from = at + characterAt(part, position);
    const last = Math.max(from, at + characterAt(part, position + length - 1));
    const start = whole.starts[from];
    const end = whole.ends[last];
    const time = Math.round(1000 * secondsUntil(spoken, sample, sampleRate));
    return start === undefined || end === undefined ? [] : [{ time, start, end, value }];
  });
};

const eventsOf = (spoken: SpokenPiece, sampleRate: number): SpokenEvent[] => {
  const { piece, part, at, sample, report } = spoken;
  const { events = unreported, length } = report;
  // True if a piece begins within a sentence. The tool takes it for a new sentence.
  const isWithin = piece.before === "clause" || piece.before === "word";
  const placed = events.flatMap(({ kind, position, sample: own }) => {
    if (kind === "phoneme") return [];
    return { kind, at: at + characterAt(part, position), seconds: secondsUntil(spoken, own, sampleRate) };
  });
  const first = placed.findIndex(({ kind }) => kind === "sentence");
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

/** For a voice without events, only the beginning of a piece is known. */
const unreported: readonly SpeechEvent[] = (["sentence", "word"] as const).map((kind) => {
  return { kind, position: 0, length: 0, sample: 0 };
});

/** The index of the character that is written at this offset, or of the next one. */
const characterAt = ({ ends }: SpokenText, offset: number): number =>
  firstEndingAfter(offset, ends.length, (index) => ends[index] ?? 0);
