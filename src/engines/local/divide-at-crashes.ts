import { EngineFailed, Invalid, SpeechTooLong } from "../../domain/errors.ts";
import type { SlotOptions } from "../../subprocess/run-in-slot.ts";
import { ToolFailed } from "../../subprocess/tools.ts";
import type { LocalPiece } from "./local-pieces.ts";

/** The samples of a piece, from the first audible one on. */
export type SpokenPiece = AsyncIterable<Buffer>;

type Say = (piece: LocalPiece, signal: AbortSignal, turn: SlotOptions) => Promise<SpokenPiece>;

/** From 300 letters to one: in Kyrgyz, espeak-ng 1.51 crashes at `C'J-L`. */
const mostDivisions = 9;

interface Crashing {
  /** Empty if the piece is indivisible. */
  readonly divide: (piece: LocalPiece) => readonly LocalPiece[];
  /** What is thrown for a crash at an indivisible piece. */
  readonly refuse: (piece: LocalPiece, crash: unknown, signal: AbortSignal) => Promise<unknown>;
}

/**
 * Speaks a piece at which the tool crashes in smaller pieces, and those likewise. Samples that were
 * passed on before the crash are not repeated.
 */
export const dividingAtCrashes = (say: Say, { divide, refuse }: Crashing): Say => {
  const begin = async (
    piece: LocalPiece,
    signal: AbortSignal,
    turn: SlotOptions,
    divisions: number,
  ): Promise<SpokenPiece> => {
    const afterCrash = async (error: unknown): Promise<SpokenPiece> => {
      if (!isCrash(error)) throw error;
      const parts = divisions < mostDivisions ? divide(piece) : [];
      if (parts.length === 0) throw await refuse(piece, error, signal);
      return joined(parts, (part, turn) => begin(part, signal, turn, divisions + 1), turn);
    };
    try {
      return continued(await say(piece, signal, turn), afterCrash);
    } catch (error) {
      const divided = await afterCrash(error);
      // None of the piece was passed on: it is refused as a whole if it has a letter that cannot be
      // spoken.
      return divisions === 0 ? await collected(divided) : divided;
    }
  };
  return (piece, signal, turn) => begin(piece, signal, turn, 0);
};

const isCrash = (error: unknown): boolean =>
  error instanceof EngineFailed && error.cause instanceof ToolFailed && error.cause.reason === "exit";

/** One after the other. */
const joined = async (
  parts: readonly LocalPiece[],
  begin: (part: LocalPiece, turn: SlotOptions) => Promise<SpokenPiece>,
  turn: SlotOptions,
): Promise<SpokenPiece> => {
  let silence: unknown;
  for (const [index, part] of parts.entries()) {
    const first = await begin(part, turn).catch((error: unknown) => {
      silence ??= error;
      return ifNoOutput(error);
    });
    if (!first) continue;
    const others = parts.slice(index + 1);
    return (async function* () {
      yield* first;
      for (const other of others) {
        const next = await begin(other, { ...turn, isContinuation: true }).catch(ifNoOutput);
        if (next) yield* next;
      }
    })();
  }
  throw silence;
};

const collected = async (audio: SpokenPiece): Promise<SpokenPiece> => {
  const chunks: Buffer[] = [];
  for await (const chunk of audio) chunks.push(chunk);
  return (async function* () {
    yield* chunks;
  })();
};

async function* continued(
  audio: AsyncIterable<Buffer>,
  afterCrash: (error: unknown) => Promise<SpokenPiece>,
): AsyncGenerator<Buffer, void> {
  let passedOn = 0;
  let again: SpokenPiece;
  try {
    for await (const chunk of audio) {
      passedOn += chunk.length;
      yield chunk;
    }
    return;
  } catch (error) {
    again = await afterCrash(error);
  }
  for await (const chunk of again) {
    const rest = chunk.subarray(Math.min(passedOn, chunk.length));
    passedOn -= chunk.length - rest.length;
    if (rest.length > 0) yield rest;
  }
}

/**
 * A silent piece does not fail the others: its error becomes undefined. One at which the tool
 * crashed does.
 */
export const ifNoOutput = (error: unknown): undefined => {
  if (!(error instanceof Invalid) || error instanceof SpeechTooLong || isCrash(error.cause)) throw error;
};
