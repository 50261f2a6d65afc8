import { tap } from "../async/tap.ts";
import { Unavailable } from "../domain/errors.ts";
import { requireDuration } from "../domain/synthesis/min-duration.ts";
import { fade } from "./fades.ts";
import { bytesPerSample } from "./whole-samples.ts";

export interface ConcatenateOptions<Piece> {
  /**
   * The sample rate in Hz, or a function that returns it, which is called when the first piece has
   * begun.
   */
  readonly sampleRate: number | (() => number);
  /**
   * Synthesizes the samples of one piece (s16le, mono). Resolves when they have begun. There is at
   * least one sample, or an error. An abort ends the request and its response, even before the
   * first read.
   */
  readonly synthesizePiece: (
    piece: Piece,
    signal: AbortSignal,
    /** True for all pieces but the first. */
    isContinuation: boolean,
  ) => Promise<AsyncIterable<Buffer>>;
  /**
   * Returns the shortest duration of a piece in seconds. A shorter piece is refused
   * (`requireDuration`). Default: 0.
   */
  readonly minSeconds?: (piece: Piece) => number;
  /**
   * True if a piece that failed before it was due is synthesized again when it is due. Default:
   * true for {Unavailable}.
   */
  readonly mayRetry?: (error: unknown) => boolean;
}

export interface Concatenated {
  readonly encoding: { readonly kind: "pcm"; readonly sampleRate: number };
  readonly audio: AsyncIterable<Buffer>;
}

/**
 * The length of the fade-out and the fade-in at a joint: longer than a click, too short to notice.
 */
const fadeSeconds = 0.003;

/**
 * Joins the audio of at least one piece. Each piece is requested while the one before is read, so
 * at most two are in progress. If the first piece fails, the function rejects. If another piece
 * fails, the audio throws when that piece is due.
 */
export const concatenate = async <Piece>(
  pieces: readonly Piece[],
  {
    sampleRate: rate,
    synthesizePiece,
    minSeconds = () => 0,
    mayRetry = (error) => error instanceof Unavailable,
  }: ConcatenateOptions<Piece>,
  signal: AbortSignal,
): Promise<Concatenated> => {
  const rateNow = typeof rate === "number" ? () => rate : rate;
  const over = new AbortController();
  const both = AbortSignal.any([signal, over.signal]);
  const begin = (piece: Piece, isContinuation = true): Promise<AsyncIterable<Buffer>> => {
    const started = synthesizePiece(piece, both, isContinuation).then((audio) =>
      longEnough(audio, rateNow(), minSeconds(piece)),
    );
    started.catch(() => undefined); // reported when the piece is due
    return started;
  };
  /**
   * Begins a piece again when it is due. Its first attempt may have timed out while it waited for a
   * slot that the previous piece held. This slot is free now.
   */
  const inTurn = (error: unknown, piece: Piece): Promise<AsyncIterable<Buffer>> => {
    if (!mayRetry(error) || both.aborted) throw error;
    return begin(piece);
  };
  const [first, ...others] = pieces;
  if (first === undefined) throw new TypeError("There are no pieces.");
  const firstAudio = await begin(first, false);
  const sampleRate = rateNow();

  const read = async function* (): AsyncGenerator<Buffer, void> {
    const samples = Math.round(fadeSeconds * sampleRate);
    try {
      let current = firstAudio;
      for (const [index, piece] of others.entries()) {
        const next = begin(piece);
        yield* fade(current, { fadeIn: index > 0, fadeOut: true, samples });
        current = await next.catch((error) => inTurn(error, piece));
      }
      yield* fade(current, { fadeIn: others.length > 0, fadeOut: false, samples });
    } finally {
      over.abort(cancelled);
    }
  };
  return { encoding: { kind: "pcm", sampleRate }, audio: read() };
};

const longEnough = (
  audio: AsyncIterable<Buffer>,
  sampleRate: number,
  minSeconds: number,
): AsyncIterable<Buffer> => {
  let bytes = 0;
  return tap(audio, {
    onChunk: ({ length }) => {
      bytes += length;
    },
    onEnd: () => requireDuration(bytes / bytesPerSample / sampleRate, minSeconds),
  });
};

const cancelled = new Error("The reader has disconnected.");
