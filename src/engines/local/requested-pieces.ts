import { Invalid, NothingToSpeak, SpeechTooLong } from "../../domain/errors.ts";
import { speakingSeconds } from "../../domain/synthesis/speaking-time.ts";
import { noAudioError } from "../../domain/text/speakable.ts";
import type { PieceShape, SpeechReport } from "../../subprocess/protocol.ts";
import type { SpeechPiece } from "../../subprocess/speech/speech-job.ts";
import type { SpeechRequest } from "../engine.ts";
import { dividePiece, type LocalPiece, spokenPart, withoutTags } from "./local-pieces.ts";
import type { ToolPiece } from "./local-tool.ts";
import type { collectPieceMarks } from "./piece-marks.ts";

/**
 * Nine divisions lead from 300 letters to one. espeak-ng 1.51 crashes even at short texts: at
 * `C'J-L` in Kyrgyz.
 */
const maxDivisions = 9;

interface RequestedPiece extends ToolPiece {
  readonly piece: LocalPiece;
  /** The number of divisions that led to it. */
  readonly divisions: number;
}

/** The pieces of a text that the tools are requested to speak, by their numbers. */
export class RequestedPieces {
  readonly marks: ReturnType<typeof collectPieceMarks>;
  /** The error if the tools return only silence: that of the first piece. */
  silence: () => Error = () => new NothingToSpeak();
  readonly #request: SpeechRequest;
  readonly #requested: RequestedPiece[] = [];

  constructor(request: SpeechRequest, marks: ReturnType<typeof collectPieceMarks>) {
    this.#request = request;
    this.marks = marks;
  }

  /** Adds pieces, and returns those that have something that their tools speak. */
  add(pieces: readonly LocalPiece[], divisions = 0): SpeechPiece[] {
    const isFirst = this.#requested.length === 0;
    return pieces.flatMap((piece, index) => {
      const { ssml, voice, prosody } = piece;
      const text = spokenPart(piece);
      const request = { ...this.#request, text, ssml, voice: voice.name, lang: voice.lang, prosody };
      if (isFirst && index === 0) this.silence = () => noAudioError({ text, ssml });
      try {
        const requested = voice.tool.pieceFor(request);
        this.#requested.push({ ...requested, piece, divisions });
        return speechPieceOf(piece, requested);
      } catch (error) {
        if (!(error instanceof Invalid) || error instanceof SpeechTooLong) throw error;
        if (isFirst && index === 0) this.silence = () => error;
        return [];
      }
    });
  }

  piece(number: number): LocalPiece {
    const requested = this.#requested[number];
    if (!requested) throw new RangeError(`There is no piece ${number}.`);
    return requested.piece;
  }

  /** Returns the parts of a piece; undefined if it is indivisible. */
  divide(number: number): SpeechPiece[] | undefined {
    const piece = this.piece(number);
    const { divisions = 0 } = this.#requested[number] ?? {};
    // A model's failure does not depend on the text, so it is reported.
    const parts = divisions < maxDivisions && !piece.voice.tool.modelOf ? dividePiece(piece) : [];
    if (parts.length === 0) return undefined;
    this.marks.divide(piece, parts);
    return this.add(parts, divisions + 1);
  }

  report({ pieces }: SpeechReport): void {
    for (const [number, report] of pieces.entries()) {
      const requested = this.#requested[number];
      if (!requested || !report) continue;
      const { piece, placed = (events) => events } = requested;
      this.marks.add(piece, { ...report, events: report.events && placed(report.events) });
    }
  }
}

const speechPieceOf = (piece: LocalPiece, { job, volume = 1, start }: ToolPiece): SpeechPiece => ({
  job,
  start,
  shape: shapeOf(piece, volume),
  seconds: secondsOf(piece),
});

const shapeOf = (
  { before, after, pauseMs, voice: { tool, gain }, prosody }: LocalPiece,
  volume: number,
): PieceShape => ({
  gains: [volume, gain].filter((factor) => factor !== 1),
  leading: before && tool.pauses(before, prosody.rate).before,
  trailing: after && tool.pauses(after, prosody.rate).after,
  silence: Math.max(1, Math.round(100 * (gain * prosody.volume))),
  pauseMs,
});

const secondsOf = ({ text, ssml, prosody }: LocalPiece): number =>
  speakingSeconds(ssml ? withoutTags(text) : text) / prosody.rate;
