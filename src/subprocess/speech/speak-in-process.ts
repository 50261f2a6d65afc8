import { unknownSize, wavHeader } from "../../domain/synthesis/wav-header.ts";
import type { JobReport } from "../protocol.ts";
import type { SubprocessHost } from "../subprocess-host.ts";
import { type PieceListener, speakPieces } from "./speak-pieces.ts";
import type { PieceJob, SpeechPiece } from "./speech-job.ts";

/** Returns the WAV of a piece. `onEnd`: called before its end. */
export type SpeakPiece = (
  job: PieceJob,
  signal: AbortSignal,
  isContinuation: boolean,
  onEnd: (report: JobReport) => void,
) => AsyncIterable<Buffer>;

/**
 * Implements `synthesize` without the helper, which pages do not have. Yields a WAV: nothing is
 * encoded.
 */
export const speakInProcess = (speakPiece: SpeakPiece): SubprocessHost["synthesize"] =>
  async function* ({ pieces, progressive, divide }, signal, { beforeStart } = {}) {
    let numbers = 0;
    const numbered = (unnumbered: readonly SpeechPiece[]) =>
      unnumbered.map((piece) => ({ ...piece, number: numbers++ }));
    const speaking = {
      progressive,
      say: async function* (
        { job, start }: SpeechPiece,
        signal: AbortSignal,
        isContinuation: boolean,
        { onEnd }: PieceListener,
      ) {
        const use = start?.();
        try {
          if (!isContinuation) await beforeStart?.();
          yield* speakPiece(job, signal, isContinuation, onEnd);
          use?.succeeded();
        } catch (error) {
          use?.failed(error);
          throw error;
        } finally {
          use?.ignored();
        }
      },
      divide: async ({ number }: { readonly number: number }, crash: Error) =>
        numbered(await divide(number, crash)),
    };
    const { sampleRate, pcm, report } = await speakPieces(numbered(pieces), speaking, signal);
    yield wavHeader(sampleRate, unknownSize);
    yield* pcm;
    return report();
  };
