import { Unavailable } from "../../domain/errors.ts";
import type { Speech } from "../engine.ts";
import { fade } from "./fades.ts";

export interface ConcatenateOptions<Piece> {
  readonly sampleRate: number;
  /**
   * The samples of one piece (s16le, mono). Resolves when they have begun; they never end well without having given
   * one. Abort ends asking and answer, also of samples that nobody has begun to read.
   */
  readonly synthesizePiece: (
    piece: Piece,
    signal: AbortSignal,
    /** Whether another came before it. */
    isContinuation: boolean,
  ) => Promise<AsyncIterable<Buffer>>;
}

/** As long as a joint takes to fall silent and to rise again: a click is shorter, and what is heard is longer. */
const jointSeconds = 0.003;

/**
 * One sound of many pieces (at least one). Each is asked for while the one before it is read, so that at most two are
 * under way. A failure of the first is a failure to begin; of any other, one midway, told when it is that piece's turn.
 */
export const concatenate = async <Piece>(
  pieces: readonly Piece[],
  { sampleRate, synthesizePiece }: ConcatenateOptions<Piece>,
  signal: AbortSignal,
): Promise<Speech> => {
  const over = new AbortController();
  const both = AbortSignal.any([signal, over.signal]);
  const begin = (piece: Piece, isContinuation = true): Promise<AsyncIterable<Buffer>> => {
    const begun = synthesizePiece(piece, both, isContinuation);
    begun.catch(() => undefined); // told when its turn comes, and never when it does not
    return begun;
  };
  /** Ahead it may have waited in vain for what the piece before it held: that is free now. */
  const inTurn = (error: unknown, piece: Piece): Promise<AsyncIterable<Buffer>> => {
    if (!(error instanceof Unavailable) || both.aborted) throw error;
    return begin(piece);
  };
  const [first, ...others] = pieces;
  if (first === undefined) throw new TypeError("There is no piece to speak.");
  const begun = await begin(first, false);

  const read = async function* (): AsyncGenerator<Buffer, void> {
    const samples = Math.round(jointSeconds * sampleRate);
    try {
      let current = begun;
      for (const [index, piece] of others.entries()) {
        const next = begin(piece);
        yield* fade(current, { before: index > 0, after: true, samples });
        current = await next.catch((error) => inTurn(error, piece));
      }
      yield* fade(current, { before: others.length > 0, after: false, samples });
    } finally {
      over.abort(nobodyReads);
    }
  };
  return { encoding: { kind: "pcm", sampleRate }, audio: read() };
};

const nobodyReads = new Error("Nobody reads it any more.");
