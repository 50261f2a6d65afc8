import type { ReservedSlot } from "../../async/scheduler/reserved-slot.ts";
import {
  EngineFailed,
  Interrupted,
  SpeechTooLong,
  Unavailable,
  Unpronounceable,
} from "../../domain/errors.ts";
import { type PreparedText, prepare } from "../../domain/text/preparation/prepare.ts";
import type { Reader } from "../../domain/text/preparation/reader.ts";
import type { Speaker } from "../../domain/text/ssml-speaker.ts";
import type { SpeechReport } from "../../subprocess/protocol.ts";
import { type SpeechJob, singlePieceJob } from "../../subprocess/speech/speech-job.ts";
import type { SubprocessHost } from "../../subprocess/subprocess-host.ts";
import { ToolFailed } from "../../subprocess/tools.ts";
import type { Speech, SpeechRequest } from "../engine.ts";
import type { JapaneseReadings } from "./japanese/japanese-readings.ts";
import { type LocalPiece, localPieces, withoutTags } from "./local-pieces.ts";
import type { LocalVoice } from "./local-tool.ts";
import { collectPieceMarks } from "./piece-marks.ts";
import { RequestedPieces } from "./requested-pieces.ts";

/** Speaks the pieces of texts. */
export type SpeechHost = Pick<SubprocessHost, "synthesize">;

interface Speaking {
  readonly host: SpeechHost;
  readonly voiceOf: (speaker: Speaker) => LocalVoice;
  readonly japanese: JapaneseReadings;
  /** The slot that was reserved for the encoder. */
  readonly slot?: ReservedSlot | undefined;
}

export const readerOf = ({ tool, lang }: LocalVoice): Reader => ({ tool: tool.prefix, lang });

/** Resolves when the first piece that has audible speech has begun. */
export const speak = async (
  request: SpeechRequest,
  { host, voiceOf, japanese, slot }: Speaking,
  signal: AbortSignal,
): Promise<Speech> => {
  const { waiter, beforeStart, progressive = false, encode = false, format, onEncoding } = request;
  const { runs, spoken } = await prepareFor(request, { voiceOf, japanese }, signal);
  const pieces = localPieces(runs, request.prosody, voiceOf);
  requireReadable(pieces);
  const requested = new RequestedPieces(request, collectPieceMarks(spoken, request, pieces));
  const job: SpeechJob = {
    pieces: requested.add(pieces),
    format: encode ? format : undefined,
    progressive,
    divide: async (number, crash) => {
      const parts = requested.divide(number);
      if (parts) return parts;
      throw await refusalOf(requested.piece(number), crash, { host, request, signal });
    },
  };
  if (job.pieces.length === 0) throw requested.silence();
  let report: SpeechReport | undefined;
  const read = async function* (): AsyncGenerator<Buffer, void> {
    try {
      report = yield* host.synthesize(job, signal, { waiter, beforeStart, slot, onEncoding });
      requested.report(report);
    } catch (error) {
      throw errorOf(error, requested.silence);
    }
  };
  const audio = read();
  const { value: first = Buffer.alloc(0) } = await audio.next();
  const sampleRate = (): number => report?.sampleRate ?? 0;
  return {
    // Samples that are not encoded follow a WAV header, which is the first chunk.
    encoding: encode ? { kind: "encoded", format } : { kind: "pcm", sampleRate: sampleRateIn(first) },
    audio: encode ? startingWith(first, audio) : audio,
    encoded: () => report,
    marks: () => requested.marks.marks(sampleRate()),
    phonemes: () => requested.marks.phonemes(sampleRate()),
  };
};

const sampleRateIn = (wavHeader: Buffer): number => wavHeader.readUInt32LE(24);

async function* startingWith(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  yield first;
  yield* rest;
}

/** Returns the engine's error for an error of a tool, and other errors unchanged. */
const errorOf = (error: unknown, silence: () => Error): unknown => {
  if (!(error instanceof ToolFailed)) return error;
  if (error.interrupted) return new Interrupted({ cause: error });
  if (error.isOfEncoder) return new Unavailable("The audio could not be encoded.", 5, { cause: error });
  if (error.reason === "silence") return silence();
  if (error.reason === "tooLong") return new SpeechTooLong();
  return new EngineFailed(error.message, { cause: error });
};

interface Refusing {
  readonly host: SpeechHost;
  readonly request: SpeechRequest;
  readonly signal: AbortSignal;
}

/**
 * Returns the error for an indivisible piece at which the tool crashed. It depends on whether the
 * tool crashes at another text, too.
 */
const refusalOf = async (
  { text, ssml, voice }: LocalPiece,
  crash: Error,
  { host, request, signal }: Refusing,
): Promise<Error> => {
  const letters = (ssml ? withoutTags(text) : text).match(/\S/gu) ?? [];
  const refusal = new Unpronounceable(letters, { cause: crash });
  if (voice.tool.modelOf) return crash;
  const { job } = voice.tool.pieceFor({
    ...request,
    text: "a",
    ssml: false,
    voice: voice.name,
    lang: voice.lang,
  });
  try {
    for await (const _ of host.synthesize(singlePieceJob(job), signal, { waiter: request.waiter }));
    return refusal;
  } catch (error) {
    return error instanceof ToolFailed && error.reason === "silence" ? refusal : crash;
  }
};

/**
 * Prepares a text. Only the preparation knows which words a Japanese voice speaks, and how it
 * writes them. So if there are such words, it runs twice, and their readings are looked up in
 * between.
 * @throws {Unavailable} if their readings are not available
 */
const prepareFor = async (
  request: SpeechRequest,
  { voiceOf, japanese }: Pick<Speaking, "voiceOf" | "japanese">,
  signal: AbortSignal,
): Promise<PreparedText> => {
  const prepareWith = (readingsOf: Reader["readingsOf"]): PreparedText =>
    prepare(request, (speaker) => {
      const voice = voiceOf(speaker);
      const reader = readerOf(voice);
      return voice.tool.readsKana?.(voice.lang) ? { ...reader, readingsOf } : reader;
    });
  const unread = new Set<string>();
  const prepared = prepareWith((text) => {
    unread.add(text);
    return [];
  });
  if (unread.size === 0) return prepared;
  const readings = await japanese.read([...unread], signal);
  return prepareWith((text) => readings.get(text) ?? []);
};

/** @throws {Unpronounceable} if the voice of a piece would skip letters or digits */
const requireReadable = (pieces: readonly LocalPiece[]): void => {
  const unreadable = pieces.flatMap(
    ({ text, ssml, voice: { tool, lang } }) => tool.unreadable?.(ssml ? withoutTags(text) : text, lang) ?? [],
  );
  if (unreadable.length > 0) throw new Unpronounceable(unreadable);
};
