import { Readable } from "node:stream";
import { tap } from "../../async/tap.ts";
import { EngineFailed, Interrupted, Invalid, NothingToSpeak, Unpronounceable } from "../../domain/errors.ts";
import { speakingSeconds } from "../../domain/synthesis/speaking-time.ts";
import { type PreparedText, prepare } from "../../domain/text/preparation/prepare.ts";
import type { Reader } from "../../domain/text/preparation/reader.ts";
import type { Speaker } from "../../domain/text/ssml-speaker.ts";
import { concatenate } from "../../pcm/concatenate.ts";
import { type Samples, scale } from "../../pcm/read-samples.ts";
import { resample } from "../../pcm/resample.ts";
import { type SilenceLimits, trimSilence } from "../../pcm/trim-silence.ts";
import { bytesPerSample } from "../../pcm/whole-samples.ts";
import type { SpeechEvent } from "../../subprocess/espeak.ts";
import type { SlotOptions } from "../../subprocess/run-in-slot.ts";
import { ToolFailed } from "../../subprocess/tools.ts";
import type { Speech, SpeechRequest } from "../engine.ts";
import { dividingAtCrashes, ifNoOutput, type SpokenPiece } from "./divide-at-crashes.ts";
import type { JapaneseReadings } from "./japanese/japanese-readings.ts";
import { dividePiece, type LocalPiece, localPieces, spokenPart, withoutTags } from "./local-pieces.ts";
import type { LocalVoice } from "./local-tool.ts";
import { collectPieceMarks, type PieceReport } from "./piece-marks.ts";
import type { createSpeechLimit } from "./speech-limit.ts";

interface Speaking {
  readonly voiceOf: (speaker: Speaker) => LocalVoice;
  readonly japanese: JapaneseReadings;
  readonly limit: ReturnType<typeof createSpeechLimit>;
}

export const readerOf = ({ tool, lang }: LocalVoice): Reader => ({ tool: tool.prefix, lang });

/**
 * Starts with the first piece that has audible speech. Until then each piece waits in the queue
 * like a first one.
 */
export const speak = async (
  request: SpeechRequest,
  { voiceOf, japanese, limit }: Speaking,
  signal: AbortSignal,
): Promise<Speech> => {
  const { claim, beforeStart } = request;
  const { runs, spoken } = await prepareFor(request, { voiceOf, japanese }, signal);
  const pieces = localPieces(runs, request.prosody, voiceOf);
  requireReadable(pieces);
  const marks = collectPieceMarks(spoken, request, pieces);
  /** The audio has the sample rate of its first piece. */
  let sampleRate = 0;
  const say = async (piece: LocalPiece, signal: AbortSignal, turn: SlotOptions): Promise<SpokenPiece> => {
    const report = marks.begin(piece);
    const noteEvents = (events: readonly SpeechEvent[]): void => {
      report.events = events;
    };
    const { ssml, voice, prosody } = piece;
    const asked = { ...request, text: spokenPart(piece), ssml, voice: voice.name, lang: voice.lang, prosody };
    const inTurn = { ...turn, claim, seconds: secondsOf(piece) };
    const samples = await limit
      .within(inTurn, (turn) => voice.tool.speak(asked, signal, turn, noteEvents))
      .catch(onError);
    report.sampleRate = samples.sampleRate;
    sampleRate ||= samples.sampleRate;
    return samplesOf({ piece, report, samples }, sampleRate);
  };
  const sayWhole = dividingAtCrashes(say, {
    divide: (piece) => {
      // A model that fails is reported: it depends on no text.
      const parts = piece.voice.tool.modelOf ? [] : dividePiece(piece);
      marks.divide(piece, parts);
      return parts;
    },
    refuse: async ({ text, ssml, voice }, crash, signal) => {
      const asked = { ...request, text: "a", ssml: false, voice: voice.name, lang: voice.lang };
      const isBroken = voice.tool.modelOf || (await crashes(voice.tool.speak(asked, signal, { claim })));
      const letters = (ssml ? withoutTags(text) : text).match(/\S/gu) ?? [];
      return isBroken ? crash : new Unpronounceable(letters, { cause: crash });
    },
  });
  let silence: unknown;
  for (const [index, piece] of pieces.entries()) {
    try {
      const first = await sayWhole(piece, signal, { beforeStart });
      const synthesizePiece = async (next: LocalPiece, signal: AbortSignal, isContinuation: boolean) => {
        if (!isContinuation) return first;
        return (await sayWhole(next, signal, { isContinuation }).catch(ifNoOutput)) ?? nothing();
      };
      const speech = await concatenate(pieces.slice(index), { sampleRate, synthesizePiece }, signal);
      return {
        ...speech,
        marks: () => marks.marks(sampleRate),
        phonemes: () => marks.phonemes(sampleRate),
      };
    } catch (error) {
      ifNoOutput(error);
      silence ??= error;
    }
  }
  throw silence ?? new NothingToSpeak();
};

/**
 * Only the preparation knows which words a Japanese voice speaks, and how it writes them: so it
 * runs twice if there are any, and reads them in between.
 * @throws {Unavailable} their readings are not available
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

const crashes = async (speaking: Promise<Samples>): Promise<boolean> => {
  try {
    for await (const _ of (await speaking).pcm);
    return false;
  } catch (error) {
    return !(error instanceof Invalid);
  }
};

/** @throws {Unpronounceable} the voice of a piece would skip letters or digits */
const requireReadable = (pieces: readonly LocalPiece[]): void => {
  const unreadable = pieces.flatMap(
    ({ text, ssml, voice: { tool, lang } }) => tool.unreadable?.(ssml ? withoutTags(text) : text, lang) ?? [],
  );
  if (unreadable.length > 0) throw new Unpronounceable(unreadable);
};

interface Said {
  readonly piece: LocalPiece;
  readonly report: PieceReport;
  readonly samples: Samples;
}

/** The samples of a piece, with its pauses, which are counted in its report. */
const samplesOf = ({ piece, report, samples }: Said, sampleRate: number): SpokenPiece => {
  const onDropped = (dropped: number): void => {
    report.dropped += dropped;
  };
  const onChunk = (chunk: Buffer): void => {
    report.length += chunk.length / bytesPerSample;
  };
  const { voice, pauseMs } = piece;
  const louder = tap(prefetched(scale(samples.pcm, voice.gain)), { onError });
  const trimmed = trimSilence(louder, { ...silenceLimits(piece, samples.sampleRate), onDropped });
  const before = silenceOf(pauseMs.before, sampleRate);
  report.paused = before.length / bytesPerSample;
  const spoken = resample(trimmed, samples.sampleRate, sampleRate);
  return tap(between(before, spoken, silenceOf(pauseMs.after, sampleRate)), { onChunk });
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

const secondsOf = ({ text, ssml, prosody }: LocalPiece): number =>
  speakingSeconds(ssml ? withoutTags(text) : text) / prosody.rate;

async function* nothing(): AsyncGenerator<Buffer, void> {}

const silenceLimits = (
  { before, after, voice: { tool, gain }, prosody: { rate, volume } }: LocalPiece,
  sampleRate: number,
): SilenceLimits => {
  const samples = (seconds: number | undefined) =>
    seconds === undefined ? undefined : Math.round(seconds * sampleRate);
  return {
    leading: samples(before && tool.pauses(before, rate).before),
    trailing: samples(after && tool.pauses(after, rate).after),
    silence: Math.max(1, Math.round(100 * (gain * volume))),
  };
};

/**
 * More than a piece usually has: at the slowest rate it takes 2 MB, the breaks of a document
 * another 3, and a part up to 32 KB. Its bytes are limited by the tools' `maxOutputBytes`.
 */
const partsOfPiece = 2048;

/**
 * Reads ahead, so that a slow client neither holds the slot of the tool nor exceeds its deadline.
 * Passes the chunks on as they are: a stream of bytes would join those that wait, and copy all
 * samples.
 */
const prefetched = (pcm: AsyncIterable<Buffer>): AsyncIterable<Buffer> => {
  const prefetching = Readable.from(pcm, { highWaterMark: partsOfPiece });
  prefetching.on("error", () => undefined); // reported to the reader; without one it must not be uncaught
  prefetching.read(0);
  return prefetching;
};

/** @throws the engine's error for that of a tool; other errors unchanged */
const onError = (error: unknown): never => {
  if (!(error instanceof ToolFailed)) throw error;
  if (error.interrupted) throw new Interrupted({ cause: error });
  throw new EngineFailed(error.message, { cause: error });
};
