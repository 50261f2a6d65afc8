import { Readable } from "node:stream";
import { type Clock, systemClock } from "../../async/clock.ts";
import { tap } from "../../async/tap.ts";
import { EngineFailed, Interrupted, Invalid, SpeechTooLong } from "../../domain/errors.ts";
import { speakingSeconds } from "../../domain/synthesis/speaking-time.ts";
import { type EngineCode, freeEngines, type Prosody } from "../../domain/synthesis/speech.ts";
import { preparationVersion, prepare } from "../../domain/text/preparation/prepare.ts";
import type { SpeechEvent } from "../../subprocess/espeak.ts";
import type { SlotOptions } from "../../subprocess/run-in-slot.ts";
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
import { createSpeechLimit, requireSpeakable } from "./speech-limit.ts";

export interface LocalEngineOptions {
  readonly host: SubprocessHost;
  /** Models that operators placed on the machine, by engine. */
  readonly models?: ReadonlyMap<EngineCode, LocalTool> | undefined;
  /** Called once for each missing tool. */
  readonly warn?: (sentence: string) => void;
  readonly clock?: Clock;
}

/** The free engines; the name of a voice contains its tool. Empty if no tool is installed. */
export const localEngines = async ({
  host,
  models,
  warn,
  clock = systemClock,
}: LocalEngineOptions): Promise<Engine[]> => {
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
    return all.length === 0 ? [] : [localEngine(code, all, { host, clock })];
  });
};

const localEngine = (
  code: EngineCode,
  tools: readonly LocalTool[],
  { host, clock }: { readonly host: SubprocessHost; readonly clock: Clock },
): Engine => {
  const find = (voice: string): { tool: LocalTool; name: string } | undefined => {
    const [, prefix, name] = /^([a-z]+):(.+)$/s.exec(voice) ?? [];
    const tool = tools.find((one) => one.prefix === prefix);
    return tool && name !== undefined && tool.has(name) ? { tool, name } : undefined;
  };
  const ask = <T>(voice: string, question: (tool: LocalTool, name: string) => T): T | undefined => {
    const found = find(voice);
    return found && question(found.tool, found.name);
  };

  return {
    code,
    // The preparation and the split of texts depend on ICU.
    version: (voice) =>
      ask(
        voice,
        (tool, name) => `${tool.version(name)}; text ${preparationVersion}; icu ${process.versions.icu}`,
      ) ?? "none",
    isExact: (voice) => ask(voice, (tool, name) => tool.isExact?.(name)) ?? true,
    prosody: (voice) => ask(voice, (tool, name) => tool.knobs(name)) ?? [],
    takesSsml: (voice) => find(voice)?.tool.takesSsml ?? false,
    marks: (voice) => find(voice)?.tool.reportsEvents ?? false,
    synthesize: async (request, signal) => {
      const found = find(request.voice);
      if (!found) throw new EngineFailed(`The engine ${code} does not have this voice.`);
      if (request.ssml && !found.tool.takesSsml) throw new EngineFailed("This voice does not support SSML.");
      requireSpeakable(found.tool, request);
      if (request.claim) host.requireCapacity(request.claim, found.tool.modelOf?.(found.name));
      await request.reserveEncoder?.();
      const gain = gainOf(request.voice);
      const limit = createSpeechLimit(clock, request.progressive ?? false);
      return speak(found.tool, { ...request, voice: found.name }, { gain, limit }, signal);
    },
  };
};

/** Starts with the first piece that has audible speech. Until then each piece waits in the queue like a first one. */
const speak = async (
  tool: LocalTool,
  request: SpeechRequest,
  { gain, limit }: { readonly gain: number; readonly limit: ReturnType<typeof createSpeechLimit> },
  signal: AbortSignal,
): Promise<Speech> => {
  const { claim, beforeStart, ssml, lang } = request;
  const { text, spoken } = prepare(request, { lang, tool: tool.prefix });
  const pieces = localPieces({ text, ssml, lang }, tool.cost, tool.bySentence);
  const marks = collectPieceMarks(spoken, request, pieces);
  const say = async (piece: LocalPiece, signal: AbortSignal, turn: SlotOptions): Promise<Said> => {
    const report = marks.begin(piece);
    const noteEvents = (events: readonly SpeechEvent[]): void => {
      report.events = events;
    };
    const asked = { ...request, text: spokenPart(piece, request.ssml) };
    const inTurn = { ...turn, claim, seconds: secondsOf(piece, request) };
    const samples = await limit
      .within(inTurn, (turn) => tool.speak(asked, signal, turn, noteEvents))
      .catch(onError);
    return { report, samples };
  };
  let silence: unknown;
  for (const [index, piece] of pieces.entries()) {
    try {
      const first = await say(piece, signal, { beforeStart });
      const { sampleRate } = first.samples;
      const synthesizePiece = async (next: LocalPiece, signal: AbortSignal, isContinuation: boolean) => {
        const said = isContinuation ? await say(next, signal, { isContinuation }).catch(ifSilent) : first;
        return said
          ? trimmed(said, gain, pausesOf(next, tool, request.prosody, gain, sampleRate))
          : nothing();
      };
      const speech = await concatenate(pieces.slice(index), { sampleRate, synthesizePiece }, signal);
      return { ...speech, marks: () => marks.marks(sampleRate) };
    } catch (error) {
      ifSilent(error);
      silence ??= error;
    }
  }
  throw silence;
};

interface Said {
  readonly report: PieceReport;
  readonly samples: Samples;
}

/** A silent piece does not fail the others: its error becomes undefined. */
const ifSilent = (error: unknown): undefined => {
  if (!(error instanceof Invalid) || error instanceof SpeechTooLong) throw error;
};

/** The samples of a piece, which are counted in its report. */
const trimmed = ({ report, samples }: Said, gain: number, limits: SilenceLimits): AsyncIterable<Buffer> => {
  const onDropped = (dropped: number): void => {
    report.dropped += dropped;
  };
  const onChunk = (chunk: Buffer): void => {
    report.length += chunk.length / 2;
  };
  const louder = tap(prefetched(scale(samples.pcm, gain)), { onError });
  return tap(trimSilence(louder, { ...limits, onDropped }), { onChunk });
};

const secondsOf = ({ text }: LocalPiece, { ssml, prosody }: SpeechRequest): number =>
  speakingSeconds(ssml ? withoutTags(text) : text) / prosody.rate;

async function* nothing(): AsyncGenerator<Buffer, void> {}

const pausesOf = (
  { before, after }: LocalPiece,
  { pauses }: LocalTool,
  { rate, volume }: Prosody,
  gain: number,
  sampleRate: number,
): SilenceLimits => {
  const samples = (seconds: number | undefined) =>
    seconds === undefined ? undefined : Math.round(seconds * sampleRate);
  return {
    leading: samples(before && pauses(before, rate).before),
    trailing: samples(after && pauses(after, rate).after),
    silence: Math.max(1, Math.round(100 * (gain * volume))),
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

/** @throws the engine's error for that of a tool; other errors unchanged */
const onError = (error: unknown): never => {
  if (!(error instanceof ToolFailed)) throw error;
  if (error.interrupted) throw new Interrupted({ cause: error });
  throw new EngineFailed(error.message, { cause: error });
};
