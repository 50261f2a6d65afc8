import { Invalid, NothingToSpeak, SpeechTooLong } from "../../domain/errors.ts";
import { speakingSeconds } from "../../domain/synthesis/speaking-time.ts";
import { noAudioError } from "../../domain/text/speakable.ts";
import type { PieceShape, SpeechReport } from "../../subprocess/protocol.ts";
import type { PieceOrder } from "../../subprocess/speech/order.ts";
import type { SpeechRequest } from "../engine.ts";
import { dividePiece, type LocalPiece, spokenPart, withoutTags } from "./local-pieces.ts";
import type { AskedPiece } from "./local-tool.ts";
import type { collectPieceMarks } from "./piece-marks.ts";

/** Nine divisions lead from 300 letters to one: in Kyrgyz, espeak-ng 1.51 crashes at `C'J-L`. */
const mostDivisions = 9;

interface Asked extends AskedPiece {
  readonly piece: LocalPiece;
  /** The number of divisions that led to it. */
  readonly divisions: number;
}

/** The pieces of a text that the tools are asked for, by their numbers. */
export class AskedPieces {
  readonly marks: ReturnType<typeof collectPieceMarks>;
  /** The error if the tools say nothing: that of the first piece. */
  silence: () => Error = () => new NothingToSpeak();
  readonly #request: SpeechRequest;
  readonly #asked: Asked[] = [];

  constructor(request: SpeechRequest, marks: ReturnType<typeof collectPieceMarks>) {
    this.#request = request;
    this.marks = marks;
  }

  /** The orders of those pieces of which their tools would speak anything. */
  add(pieces: readonly LocalPiece[], divisions = 0): PieceOrder[] {
    const isFirst = this.#asked.length === 0;
    return pieces.flatMap((piece, index) => {
      const { ssml, voice, prosody } = piece;
      const text = spokenPart(piece);
      const request = { ...this.#request, text, ssml, voice: voice.name, lang: voice.lang, prosody };
      if (isFirst && index === 0) this.silence = () => noAudioError({ text, ssml });
      try {
        const asked = voice.tool.ask(request);
        this.#asked.push({ ...asked, piece, divisions });
        return orderOf(piece, asked);
      } catch (error) {
        if (!(error instanceof Invalid) || error instanceof SpeechTooLong) throw error;
        if (isFirst && index === 0) this.silence = () => error;
        return [];
      }
    });
  }

  piece(number: number): LocalPiece {
    const asked = this.#asked[number];
    if (!asked) throw new RangeError(`There is no piece ${number}.`);
    return asked.piece;
  }

  /** The orders of the parts of a piece; undefined if it is indivisible. */
  divide(number: number): PieceOrder[] | undefined {
    const piece = this.piece(number);
    const { divisions = 0 } = this.#asked[number] ?? {};
    // A model that fails is reported: it depends on no text.
    const parts = divisions < mostDivisions && !piece.voice.tool.modelOf ? dividePiece(piece) : [];
    if (parts.length === 0) return undefined;
    this.marks.divide(piece, parts);
    return this.add(parts, divisions + 1);
  }

  report({ pieces }: SpeechReport): void {
    for (const [number, report] of pieces.entries()) {
      const asked = this.#asked[number];
      if (!asked || !report) continue;
      const { piece, placed = (events) => events } = asked;
      this.marks.add(piece, { ...report, events: report.events && placed(report.events) });
    }
  }
}

const orderOf = (piece: LocalPiece, { job, volume = 1, start }: AskedPiece): PieceOrder => ({
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
