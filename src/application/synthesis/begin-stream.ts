import type { AudioMemory, Rendition } from "../../audio/pipeline/pipeline.ts";
import { ServiceError, Unavailable } from "../../domain/errors.ts";
import type { AudioSource, StreamKind } from "../../domain/ledger/journal/serving.ts";
import { formats, type MimeType } from "../../domain/synthesis/formats.ts";
import type { ProsodyParameter } from "../../domain/synthesis/speech.ts";
import type { Ledger, StreamOutcome } from "../../ledger/ledger.ts";
import type { AdmittedRequest } from "./admitted-request.ts";
import { isCallersFault } from "./charges.ts";

/** Audio that is still being synthesized. Its first bytes exist, and its serving is recorded. */
export interface SynthesisStream {
  readonly rendition: Rendition;
  readonly contentType: MimeType;
  readonly prosodyApplied: readonly ProsodyParameter[];
  readonly source: AudioSource;
  /** The characters that the key is charged; 0 for a repeat. */
  readonly characters: number;
  /**
   * The chunks, at the reader's pace; to be read once. When reading ends, for any reason, the
   * delivered bytes are recorded. A failure during the stream throws {EngineFailed} or
   * {Unavailable}.
   */
  readonly audio: AsyncIterable<Buffer>;
  /** The memory that the reader uses. */
  readonly memory: AudioMemory;
  /**
   * The reader must call it when it writes audio to the connection. Without a call the serving is
   * voided.
   */
  readonly delivered: () => void;
}

/** Records the serving of the admitted request, and its end. */
export const beginStream = async (
  ledger: Ledger,
  request: AdmittedRequest,
  kind: StreamKind,
  signal: AbortSignal,
): Promise<SynthesisStream> => {
  const stream = await request.stream();
  const receipt = await request.record(stream, { stream: kind });
  const { rendition, source, memory } = stream;
  const chunks = stream.audio[Symbol.asyncIterator]();
  let hasDelivered = false;
  const audio = meterStream(chunks, signal, (outcome, error) => {
    if (outcome.outcome === "left") request.readerDisconnected(chunks);
    else request.endSynthesis();
    ledger.recordStreamEnd(receipt, { hash: rendition.hash, ...outcome });
    if (outcome.outcome === "failed") void request.chargeRepeat(error);
    if (hasDelivered) return;
    if (outcome.outcome !== "failed") request.callerDisconnected(receipt);
    else if (!isCallersFault(error)) void ledger.voidServing(receipt);
  });
  signal.throwIfAborted();
  return {
    rendition,
    contentType: formats[rendition.recipe.format].mimeType,
    prosodyApplied: rendition.recipe.applied,
    source,
    characters: receipt.serving.characters,
    audio,
    memory,
    delivered: () => {
      hasDelivered = true;
    },
  };
};

/**
 * Passes the chunks through and reports once how the stream ended, also if the signal is aborted
 * before the first read. A chunk counts as delivered when the next one is requested.
 */
const meterStream = (
  source: AsyncIterator<Buffer>,
  signal: AbortSignal,
  onEnd: (outcome: Omit<StreamOutcome, "hash">, error?: unknown) => void,
): AsyncIterable<Buffer> => {
  let bytes = 0;
  let chunks = 0;
  let ended = false;
  const end = (outcome: StreamOutcome["outcome"], error?: unknown): void => {
    if (ended) return;
    ended = true;
    signal.removeEventListener("abort", onAbort);
    onEnd({ outcome, bytes, chunks }, error);
  };
  const onAbort = (): void => end("left");
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort);
  return (async function* () {
    try {
      for (;;) {
        const { done, value } = await source.next();
        signal.throwIfAborted();
        if (done) break;
        yield value;
        bytes += value.length;
        chunks++;
      }
      end("whole");
    } catch (error) {
      end(signal.aborted ? "left" : "failed", error);
      throw error instanceof ServiceError || signal.aborted
        ? error
        : new Unavailable("The stream was interrupted.", 1, { cause: error });
    } finally {
      end("left");
    }
  })();
};
