import type { ProsodyParameter } from "../../domain/synthesis/speech.ts";
import type { Reader } from "../../domain/text/preparation/reader.ts";
import type { SpeechEvent } from "../../subprocess/espeak.ts";
import type { ModelQueue } from "../../subprocess/slots.ts";
import type { PieceJob, PieceUse } from "../../subprocess/speech/speech-job.ts";
import type { SpeechRequest } from "../engine.ts";

/** The slowest rate of all tools; lower ones have the same effect. */
export const slowestRate = 80 / 175;

/** The boundary between two pieces. A tool's `pauses` limit the silence there. */
export type Boundary = "sentence" | "clause" | "word";

export interface Pauses {
  readonly before?: number;
  readonly after?: number;
}

/** A speech tool of this machine. Voices are its own names, without the prefix. */
export interface LocalTool {
  /** The part of SystemVoice.voiceName before the colon. */
  readonly prefix: Reader["tool"];
  version(voice: string): string;
  /**
   * False if its bytes are not reproducible. Then the bytes that were stored first are served.
   * Default: true.
   */
  isExact?(voice: string): boolean;
  /**
   * True if the voice's samples do not depend on the machine: it runs in WebAssembly. Default:
   * false.
   */
  isReproducible?(voice: string): boolean;
  /**
   * The model of the voice, which has a queue of its own. Default: the voice shares the queue of
   * all tools.
   */
  modelOf?(voice: string): ModelQueue | undefined;
  /** True if it has the voice. Requests for other voices never reach the tool. */
  has(voice: string): boolean;
  prosodyParameters(voice: string): readonly ProsodyParameter[];
  /** True if it reads Japanese in kana only. Default: false. */
  readsKana?(lang: string): boolean;
  /**
   * True if a piece is at most one sentence, because the tool is slow, or reports only where its
   * texts begin.
   */
  readonly bySentence?: boolean;
  /** True if it takes documents with `<phoneme>`. Default: false. */
  readonly takesPhonemes?: boolean;
  /**
   * True if the tool applies the voice's gain itself, because its output would clip the peaks
   * without it. Default: false.
   */
  readonly appliesGain?: boolean;
  /** True if it reports events. */
  readonly reportsEvents: boolean;
  /** True if its events include phonemes. Default: false. */
  readonly reportsPhonemes?: boolean;
  /**
   * The effort for a text without markup, in letters of plain prose. Additive: the cost of a text
   * is the sum of its parts.
   */
  cost(text: string, lang: string): number;
  /** The highest cost of a piece. Default: 300. */
  readonly maxCost?: number;
  /** Finds letters and digits of a text without markup that the tool would skip. Default: none. */
  unreadable?(text: string, lang: string): readonly string[];
  /** Estimates the least seconds that a plain text takes at the normal rate. Default: unknown. */
  minSeconds?(text: string, lang: string): number;
  /**
   * The longest silences at a boundary, in seconds: at the end of the piece before it (`after`),
   * and at the beginning of the next one (`before`). Undefined where the tool pauses as long as it
   * does within a text.
   */
  pauses(boundary: Boundary, rate: number): Pauses;
  /**
   * Returns the job with which the tool speaks one piece of a text.
   * @throws {Invalid} if the tool would speak nothing of it
   * @throws {EngineFailed} if it does not have the voice
   */
  pieceFor(request: SpeechRequest): ToolPiece;
}

export interface ToolPiece {
  readonly job: PieceJob;
  /** Factor of the samples, in addition to the voice's gain. Default: 1. */
  readonly volume?: number;
  /** Places the events in the text of the request. Default: they are placed already. */
  readonly placed?: (events: readonly SpeechEvent[]) => readonly SpeechEvent[];
  /**
   * Called when the piece has its slot.
   * @throws {EngineFailed} if its model is not started now
   */
  readonly start?: () => PieceUse;
}

/** A voice of a tool. */
export interface LocalVoice {
  readonly tool: LocalTool;
  /** The tool's own name, without its prefix. */
  readonly name: string;
  /** The language of the words. */
  readonly lang: string;
  /** The factor for its samples. */
  readonly gain: number;
}
