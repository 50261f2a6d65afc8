import type { AudioFormat } from "../../domain/synthesis/formats.ts";
import type { EspeakJob, ModelJob, ToolJob } from "../jobs.ts";
import type { PieceShape } from "../protocol.ts";

/** The job of a tool for a piece of a text. */
export type PieceJob =
  | ({ readonly type: "tool" } & ToolJob)
  | ({ readonly type: "espeak" } & Omit<EspeakJob, "onEvents">)
  | ({ readonly type: "model" } & Omit<ModelJob, "onEvents">);

export interface SpeechPiece {
  readonly job: PieceJob;
  readonly shape: PieceShape;
  /** The estimated seconds of speech. */
  readonly seconds: number;
  /** Called when the piece has its slot. If it throws, the piece fails with that error. */
  readonly start?: (() => PieceUse) | undefined;
}

/** One use of a model. Only the first call counts. */
export interface PieceUse {
  succeeded(): void;
  failed(error: unknown): void;
  /** The use says nothing about the model. */
  ignored(): void;
}

/** A text in pieces, which become one audio. */
export interface SpeechJob {
  readonly pieces: readonly SpeechPiece[];
  /** If undefined, the audio is samples, behind a WAV header without a length. */
  readonly format: AudioFormat | undefined;
  /** True if a client reads the audio while it is spoken. */
  readonly progressive: boolean;
  /**
   * Divides a piece at which its tool crashed into parts, which are spoken instead of it. The parts
   * are numbered on from the last piece or from the last part of an earlier call. If there are no
   * parts, the piece is silent.
   * @throws the failure of the audio
   */
  readonly divide: (piece: number, crash: Error) => Promise<readonly SpeechPiece[]>;
}

/** Returns the job of a single piece, whose samples are not changed. */
export const singlePieceJob = (job: PieceJob, start?: SpeechPiece["start"]): SpeechJob => ({
  pieces: [{ job, start, shape: { gains: [], silence: 0, pauseMs: { before: 0, after: 0 } }, seconds: 1 }],
  format: undefined,
  progressive: false,
  divide: (_piece, crash) => Promise.reject(crash),
});
