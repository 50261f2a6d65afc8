import { Readable } from "node:stream";
import { tap } from "../../async/tap.ts";
import { concatenate } from "../../pcm/concatenate.ts";
import { readSamples, type Samples, scale } from "../../pcm/read-samples.ts";
import { resample } from "../../pcm/resample.ts";
import { trimSilence } from "../../pcm/trim-silence.ts";
import { bytesPerSample } from "../../pcm/whole-samples.ts";
import type { JobReport, PieceReport, PieceShape, SpeechReport } from "../protocol.ts";
import { ToolFailed } from "../tools.ts";
import { dividingAtCrashes, ifSilent, type SpokenPiece, silence } from "./divide-at-crashes.ts";
import { createSpeechLimit } from "./speech-limit.ts";

/** A piece of a text, by its number. */
export interface NumberedPiece {
  readonly number: number;
  readonly shape: PieceShape;
  readonly job: { readonly type: string };
}

export interface PieceListener {
  /** Called before the end of the samples. */
  readonly onEnd: (report: JobReport) => void;
  /** Called when the tool is stopped. The listener must end the output, even an unread one. */
  readonly onStop: (failure: ToolFailed) => void;
}

interface Speaking<Piece> {
  readonly progressive: boolean;
  /**
   * Returns the WAV of a piece. At most two pieces are in progress. The tool starts with the first
   * read.
   * @throws {ToolFailed}
   */
  readonly say: (
    piece: Piece,
    signal: AbortSignal,
    isContinuation: boolean,
    listener: PieceListener,
  ) => AsyncIterable<Buffer>;
  /** Returns the parts of a piece at which its tool crashed. */
  readonly divide: (piece: Piece, crash: ToolFailed) => Promise<readonly Piece[]>;
}

export interface SpokenText {
  readonly sampleRate: number;
  /** s16le, mono. */
  readonly pcm: AsyncIterable<Buffer>;
  /** Call it after the end of `pcm`. */
  readonly report: () => SpeechReport;
}

/**
 * Speaks all pieces as one audio. It begins with the first piece that has audible speech, and has
 * the sample rate of this piece. Pages use this function, so this file imports nothing that only
 * Node has, except `Buffer` and `Readable`.
 * @throws {ToolFailed} if a tool failed, or the speech of all pieces is silent
 */
export const speakPieces = async <Piece extends NumberedPiece>(
  pieces: readonly Piece[],
  { progressive, say, divide }: Speaking<Piece>,
  signal: AbortSignal,
): Promise<SpokenText> => {
  const limit = createSpeechLimit(progressive);
  const reports: PieceReport[] = [];
  let sampleRate = 0;
  const begin = async (piece: Piece, signal: AbortSignal, isContinuation: boolean): Promise<SpokenPiece> => {
    const report: PieceReport = { events: undefined, sampleRate: 0, dropped: 0, length: 0, paused: 0 };
    reports[piece.number] = report;
    limit.check();
    const onEnd = ({ events, cpuMs = 0 }: JobReport): void => {
      report.events = events;
      limit.addCpuTime(cpuMs);
    };
    const stop = new AbortController();
    const onStop = (failure: ToolFailed): void => stop.abort(failure);
    const wav = say(piece, signal, isContinuation, { onEnd, onStop });
    const samples = await readSamples(wav, { silence, invalid }).catch((error: unknown) => {
      // espeak-ng returns nothing for a text without words.
      const isEmpty = error instanceof ToolFailed && error.reason === "silent";
      throw isEmpty && piece.job.type === "espeak" ? silence() : error;
    });
    report.sampleRate = samples.sampleRate;
    sampleRate ||= samples.sampleRate;
    const pcm = prefetched(
      piece.shape.gains.reduce(scale, limit.within(samples.pcm, samples.sampleRate)),
      AbortSignal.any([signal, stop.signal]),
    );
    return shaped({ ...samples, pcm }, piece.shape, report, sampleRate);
  };
  const beginOrDivide = dividingAtCrashes(begin, divide);

  for (const [index, piece] of pieces.entries()) {
    const first = await beginOrDivide(piece, signal, false).catch(ifSilent);
    if (!first) continue;
    const synthesizePiece = async (next: Piece, signal: AbortSignal, isContinuation: boolean) => {
      if (!isContinuation) return first;
      return (await beginOrDivide(next, signal, true).catch(ifSilent)) ?? nothing();
    };
    const { audio } = await concatenate(
      pieces.slice(index),
      { sampleRate, synthesizePiece, mayRetry: isInterrupted },
      signal,
    );
    let bytes = 0;
    const onChunk = ({ length }: Buffer): void => {
      bytes += length;
    };
    const onEnd = (): void => {
      if (bytes === 0) throw invalid("There is no audio to encode.");
    };
    return {
      sampleRate,
      pcm: tap(audio, { onChunk, onEnd }),
      report: () => ({ sampleRate, samples: bytes / bytesPerSample, pieces: reports }),
    };
  }
  throw silence();
};

const invalid = (message: string): ToolFailed => new ToolFailed("output", message);

const isInterrupted = (error: unknown): boolean => error instanceof ToolFailed && error.interrupted;

/** Returns the samples of a piece with its pauses, and counts them in the report of the piece. */
const shaped = (
  samples: Samples,
  { leading, trailing, silence, pauseMs }: PieceShape,
  report: PieceReport,
  sampleRate: number,
): SpokenPiece => {
  const limitOf = (seconds: number | undefined) =>
    seconds === undefined ? undefined : Math.round(seconds * samples.sampleRate);
  const trimmed = trimSilence(samples.pcm, {
    leading: limitOf(leading),
    trailing: limitOf(trailing),
    silence,
    onDropped: (dropped) => {
      report.dropped += dropped;
    },
  });
  const before = silenceOf(pauseMs.before, sampleRate);
  report.paused = before.length / bytesPerSample;
  const spoken = resample(trimmed, samples.sampleRate, sampleRate);
  return tap(between(before, spoken, silenceOf(pauseMs.after, sampleRate)), {
    onChunk: (chunk) => {
      report.length += chunk.length / bytesPerSample;
    },
  });
};

async function* between(
  before: Buffer,
  spoken: AsyncIterable<Buffer>,
  after: Buffer,
): AsyncGenerator<Buffer, void> {
  if (before.length > 0) yield before;
  yield* spoken;
  if (after.length > 0) yield after;
}

const silenceOf = (ms: number, sampleRate: number): Buffer =>
  Buffer.alloc(Math.round((ms / 1000) * sampleRate) * bytesPerSample);

async function* nothing(): AsyncGenerator<Buffer, void> {}

/**
 * The most chunks that are read ahead. A piece usually has fewer: at the slowest rate it takes 2
 * MB, the breaks of a document take another 3 MB, and a chunk has up to 64 KB. `maxOutputBytes` of
 * the tool limits the bytes.
 */
const chunksReadAhead = 2048;

/**
 * Reads ahead, so that a slow client neither holds the slot of the tool nor exceeds its deadline.
 * Passes the chunks on as they are: a stream of bytes would join those that wait, and copy all
 * samples.
 */
const prefetched = (pcm: AsyncIterable<Buffer>, signal: AbortSignal): AsyncIterable<Buffer> => {
  // A tool whose samples nobody reads any more must end, too.
  const destroy = (): void => void prefetching.destroy(signal.reason);
  const onClose = (): void => signal.removeEventListener("abort", destroy);
  const prefetching = Readable.from(tap(pcm, { onClose }), { highWaterMark: chunksReadAhead });
  signal.addEventListener("abort", destroy, { once: true });
  prefetching.on("error", () => undefined); // reported to the reader; without one it must not be uncaught
  prefetching.read(0);
  return prefetching;
};
