import { ToolFailed } from "../tools.ts";

/** The samples of a piece, from the first audible one on. */
export type SpokenPiece = AsyncIterable<Buffer>;

type Say<Piece> = (piece: Piece, signal: AbortSignal, isContinuation: boolean) => Promise<SpokenPiece>;

/**
 * Returns a function that speaks a piece. If the tool crashes at the piece, the piece's parts are
 * spoken instead. A part at which the tool crashes is divided again. Samples that were passed on
 * before the crash are not repeated. `divide` throws if the piece cannot be divided.
 */
export const dividingAtCrashes = <Piece>(
  say: Say<Piece>,
  divide: (piece: Piece, crash: ToolFailed) => Promise<readonly Piece[]>,
): Say<Piece> => {
  const begin = async (
    piece: Piece,
    signal: AbortSignal,
    isContinuation: boolean,
    isPart = true,
  ): Promise<SpokenPiece> => {
    const afterCrash = async (error: unknown): Promise<SpokenPiece> => {
      if (!isCrash(error)) throw error;
      const parts = await divide(piece, error);
      return joined(parts, (part, isContinuation) => begin(part, signal, isContinuation), isContinuation);
    };
    try {
      return continued(await say(piece, signal, isContinuation), afterCrash);
    } catch (error) {
      const divided = await afterCrash(error);
      // No sample of the piece was passed on. If one of its letters cannot be spoken, the whole
      // piece is refused, so all parts are spoken first.
      return isPart ? divided : await collected(divided);
    }
  };
  return (piece, signal, isContinuation) => begin(piece, signal, isContinuation, false);
};

const isCrash = (error: unknown): error is ToolFailed =>
  error instanceof ToolFailed && error.reason === "exit";

/** Speaks the parts one after the other. */
const joined = async <Piece>(
  parts: readonly Piece[],
  begin: (part: Piece, isContinuation: boolean) => Promise<SpokenPiece>,
  isContinuation: boolean,
): Promise<SpokenPiece> => {
  for (const [index, part] of parts.entries()) {
    const first = await begin(part, isContinuation).catch(ifSilent);
    if (!first) continue;
    const others = parts.slice(index + 1);
    return (async function* () {
      yield* first;
      for (const other of others) {
        const next = await begin(other, true).catch(ifSilent);
        if (next) yield* next;
      }
    })();
  }
  throw silence();
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

export const silence = (): ToolFailed => new ToolFailed("silence", "The speech is silent.");

/** Returns undefined for the error of a silent piece, which does not fail the others. */
export const ifSilent = (error: unknown): undefined => {
  if (!(error instanceof ToolFailed && error.reason === "silence")) throw error;
};
