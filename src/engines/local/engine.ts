import { Readable } from "node:stream";
import { tap } from "../../async/tap.ts";
import { EngineFailed, Interrupted, Invalid } from "../../domain/errors.ts";
import { speakingSeconds } from "../../domain/synthesis/speaking-time.ts";
import { type EngineCode, freeEngines, type Prosody } from "../../domain/synthesis/speech.ts";
import type { SpeechEvent } from "../../subprocess/espeak.ts";
import type { SubprocessHost } from "../../subprocess/subprocess-host.ts";
import { ToolFailed } from "../../subprocess/tools.ts";
import type { Engine, Speech, SpeechRequest } from "../engine.ts";
import { concatenate } from "../pcm/concatenate.ts";
import { type Samples, scale } from "../pcm/read-samples.ts";
import { type SilenceLimits, trimSilence } from "../pcm/trim-silence.ts";
import { espeak } from "./espeak.ts";
import { flite } from "./flite.ts";
import { gainOf } from "./gains.ts";
import { type LocalPiece, localPieces, spokenPart, withoutTags } from "./local-pieces.ts";
import type { LocalTool } from "./local-tool.ts";
import { collectPieceMarks, type PieceReport } from "./piece-marks.ts";

export interface LocalEngineOptions {
  readonly host: SubprocessHost;
  /** Models that operators placed on the machine, by engine. */
  readonly models?: ReadonlyMap<EngineCode, LocalTool> | undefined;
  /** Called once for each missing tool. */
  readonly warn?: (sentence: string) => void;
}

/** The free engines; the name of a voice contains its tool. Empty if no tool is installed. */
export const localEngines = async ({ host, models, warn }: LocalEngineOptions): Promise<Engine[]> => {
  const found = { "espeak-ng": await espeak(host), flite: flite(host) };
  for (const [name, tool] of Object.entries(found)) {
    if (!tool) warn?.(`${name} is not installed: its voices are unavailable.`);
  }
  if (host.espeak === "command") {
    warn?.(
      "The library of espeak-ng cannot be used: its command line speaks, slower and without word timings.",
    );
  }
  const tools = Object.values(found).filter((tool) => tool !== undefined);
  return freeEngines.flatMap((code) => {
    const model = models?.get(code);
    const all = model ? [...tools, model] : tools;
    return all.length === 0 ? [] : [localEngine(code, all, host)];
  });
};

const localEngine = (code: EngineCode, tools: readonly LocalTool[], host: SubprocessHost): Engine => {
  const find = (voice: string): { tool: LocalTool; name: string } | undefined => {
    const [, prefix, name] = /^([a-z]+):(.+)$/s.exec(voice) ?? [];
    const tool = tools.find((one) => one.prefix === prefix);
    return tool && name !== undefined && tool.has(name) ? { tool, name } : undefined;
  };

  return {
    code,
    // The split of long texts depends on ICU.
    version: (voice) => {
      const found = find(voice);
      return found ? `${found.tool.version(found.name)}; icu ${process.versions.icu}` : "none";
    },
    isExact: (voice) => {
      const found = find(voice);
      return found?.tool.isExact?.(found.name) ?? true;
    },
    prosody: (voice) => {
      const found = find(voice);
      return found ? found.tool.knobs(found.name) : [];
    },
    takesSsml: (voice) => find(voice)?.tool.takesSsml ?? false,
    marks: (voice) => find(voice)?.tool.reportsEvents ?? false,
    synthesize: async (request, signal) => {
      const found = find(request.voice);
      if (!found) throw new EngineFailed(`The engine ${code} does not have this voice.`);
      if (request.ssml && !found.tool.takesSsml) throw new EngineFailed("This voice does not support SSML.");
      if (request.claim) host.requireCapacity(request.claim, found.tool.modelOf?.(found.name));
      await request.reserveEncoder?.();
      const gain = gainOf(request.voice);
      return speak(found.tool, { ...request, voice: found.name }, gain, signal);
    },
  };
};

/** Starts with the first piece that has audible speech. Until then each piece waits in the queue like a first one. */
const speak = async (
  tool: LocalTool,
  request: SpeechRequest,
  gain: number,
  signal: AbortSignal,
): Promise<Speech> => {
  const { claim, beforeStart } = request;
  const turn = { claim, beforeStart };
  const pieces = localPieces(request, tool.cost, tool.bySentence);
  const [first, ...others] = pieces;
  const marks = collectPieceMarks(request, pieces);
  let silence: unknown;
  for (let piece = first; piece; piece = others.shift()) {
    try {
      const first = { ...turn, seconds: secondsOf(piece, request) };
      const report = marks.begin(piece);
      const spoken = { ...request, text: spokenPart(piece, request.ssml) };
      const samples = await tool.speak(spoken, signal, first, noteEvents(report));
      return await concatenatePieces(tool, request, { samples, gain, report, piece, others, marks }, signal);
    } catch (error) {
      if (!(error instanceof Invalid)) throw toEngineError(error);
      silence ??= error;
    }
  }
  throw silence;
};

const secondsOf = ({ text }: LocalPiece, { ssml, prosody }: SpeechRequest): number =>
  speakingSeconds(ssml ? withoutTags(text) : text) / prosody.rate;

interface Started {
  readonly piece: LocalPiece;
  readonly samples: Samples;
  /** Of the voice. */
  readonly gain: number;
  readonly report: PieceReport;
  readonly marks: ReturnType<typeof collectPieceMarks>;
  readonly others: readonly LocalPiece[];
}

const concatenatePieces = async (
  tool: LocalTool,
  request: SpeechRequest,
  { piece: first, samples, gain, report: firstReport, others, marks }: Started,
  signal: AbortSignal,
): Promise<Speech> => {
  const { sampleRate } = samples;
  const synthesizePiece = async (piece: LocalPiece, signal: AbortSignal, isContinuation: boolean) => {
    const report = isContinuation ? marks.begin(piece) : firstReport;
    const { pcm } = isContinuation ? await askNext(piece, report, signal) : samples;
    const onDropped = (dropped: number): void => {
      report.dropped += dropped;
    };
    const { rate, volume } = request.prosody;
    const pauses = pausesOf(piece, tool, { rate, volume: gain * volume }, sampleRate);
    const trimmed = trimSilence(tap(prefetched(scale(pcm, gain)), { onError }), { ...pauses, onDropped });
    const onChunk = (chunk: Buffer): void => {
      report.length += chunk.length / 2;
    };
    return tap(trimmed, { onChunk });
  };
  const askNext = async (
    piece: LocalPiece,
    report: PieceReport,
    signal: AbortSignal,
  ): Promise<Pick<Samples, "pcm">> => {
    const turn = { claim: request.claim, isContinuation: true, seconds: secondsOf(piece, request) };
    try {
      return await tool.speak(
        { ...request, text: spokenPart(piece, request.ssml) },
        signal,
        turn,
        noteEvents(report),
      );
    } catch (error) {
      if (error instanceof Invalid) return { pcm: nothing() }; // only this piece is silent
      throw toEngineError(error);
    }
  };
  const speech = await concatenate([first, ...others], { sampleRate, synthesizePiece }, signal);
  return { ...speech, marks: () => marks.marks(sampleRate) };
};

const noteEvents =
  (report: PieceReport) =>
  (events: readonly SpeechEvent[]): void => {
    report.events = events;
  };

async function* nothing(): AsyncGenerator<Buffer, void> {}

const pausesOf = (
  { before, after }: LocalPiece,
  { pauses }: LocalTool,
  { rate, volume }: Pick<Prosody, "rate" | "volume">,
  sampleRate: number,
): SilenceLimits => {
  const samples = (seconds: number | undefined) =>
    seconds === undefined ? undefined : Math.round(seconds * sampleRate);
  return {
    leading: samples(before && pauses(before, rate).before),
    trailing: samples(after && pauses(after, rate).after),
    silence: Math.max(1, Math.round(100 * volume)),
  };
};

/**
 * More than a piece usually has: at the slowest rate it takes 2 MB, the breaks of a document another 3, and a part up to 32 KB. Its
 * bytes are limited by the tools' `maxOutputBytes`.
 */
const partsOfPiece = 2048;

/**
 * Reads ahead, so that a slow client neither holds the slot of the tool nor exceeds its deadline. Passes the chunks on as they
 * are: a stream of bytes would join those that wait, and copy all samples.
 */
const prefetched = (pcm: AsyncIterable<Buffer>): AsyncIterable<Buffer> => {
  const prefetching = Readable.from(pcm, { highWaterMark: partsOfPiece });
  prefetching.on("error", () => undefined); // reported to the reader; without one it must not be uncaught
  prefetching.read(0);
  return prefetching;
};

const onError = (error: unknown): never => {
  throw toEngineError(error);
};

const toEngineError = (error: unknown): unknown => {
  if (!(error instanceof ToolFailed)) return error;
  if (error.interrupted) return new Interrupted({ cause: error });
  return new EngineFailed(error.message, { cause: error });
};
