import { Readable } from "node:stream";
import { tap } from "../../async/tap.ts";
import { EngineFailed, Interrupted, Invalid } from "../../domain/errors.ts";
import { type EngineCode, freeEngines } from "../../domain/synthesis/speech.ts";
import type { SubprocessHost } from "../../subprocess/subprocess-host.ts";
import { ToolFailed } from "../../subprocess/tools.ts";
import type { Engine, Speech, SpeechRequest } from "../engine.ts";
import { concatenate } from "../pcm/concatenate.ts";
import type { Samples } from "../pcm/read-samples.ts";
import { type SilenceLimits, trimSilence } from "../pcm/trim-silence.ts";
import { espeak } from "./espeak.ts";
import { flite } from "./flite.ts";
import { type Boundary, type LocalPiece, localPieces } from "./local-pieces.ts";
import type { LocalTool } from "./local-tool.ts";

export interface LocalEngineOptions {
  readonly host: SubprocessHost;
  /** Called once for each missing tool. */
  readonly warn?: (sentence: string) => void;
}

/** The free engines; the name of a voice contains its tool. Empty if no tool is installed. */
export const localEngines = async ({ host, warn }: LocalEngineOptions): Promise<Engine[]> => {
  const found = { "espeak-ng": await espeak(host), flite: flite(host) };
  for (const [name, tool] of Object.entries(found)) {
    if (!tool) warn?.(`${name} is not installed: its voices are unavailable.`);
  }
  const tools = Object.values(found).filter((tool) => tool !== undefined);
  if (tools.length === 0) return [];
  return freeEngines.map((code) => localEngine(code, tools, host));
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
      return found ? `${found.tool.version}; icu ${process.versions.icu}` : "none";
    },
    prosody: (voice) => {
      const found = find(voice);
      return found ? found.tool.knobs(found.name) : [];
    },
    takesSsml: (voice) => find(voice)?.tool.takesSsml ?? false,
    synthesize: async (request, signal) => {
      const found = find(request.voice);
      if (!found) throw new EngineFailed(`The engine ${code} does not have this voice.`);
      if (request.ssml && !found.tool.takesSsml) throw new EngineFailed("This voice does not support SSML.");
      if (request.claim) host.requireCapacity(request.claim);
      return speak(found.tool, { ...request, voice: found.name }, signal);
    },
  };
};

/** Starts with the first piece that has audible speech. Until then each piece waits in the queue like a first one. */
const speak = async (tool: LocalTool, request: SpeechRequest, signal: AbortSignal): Promise<Speech> => {
  const { claim, beforeStart } = request;
  const turn = { claim, beforeStart };
  const [first, ...others] = localPieces(request, tool.cost);
  let silence: unknown;
  for (let piece = first; piece; piece = others.shift()) {
    try {
      const samples = await tool.speak({ ...request, text: piece.text }, signal, turn);
      return await concatenatePieces(tool, request, { samples, piece, others }, signal);
    } catch (error) {
      if (!(error instanceof Invalid)) throw toEngineError(error);
      silence ??= error;
    }
  }
  throw silence;
};

interface Started {
  readonly piece: LocalPiece;
  readonly samples: Samples;
  readonly others: readonly LocalPiece[];
}

const concatenatePieces = async (
  tool: LocalTool,
  request: SpeechRequest,
  { piece: first, samples, others }: Started,
  signal: AbortSignal,
): Promise<Speech> => {
  const { sampleRate } = samples;
  const synthesizePiece = async (piece: LocalPiece, signal: AbortSignal, isContinuation: boolean) => {
    const { pcm } = isContinuation ? await askNext(piece, signal) : samples;
    return trimSilence(
      tap(prefetched(pcm), { onError }),
      pausesOf(piece, sampleRate, request.prosody.volume),
    );
  };
  const askNext = async (piece: LocalPiece, signal: AbortSignal): Promise<Pick<Samples, "pcm">> => {
    const turn = { claim: request.claim, isContinuation: true };
    try {
      return await tool.speak({ ...request, text: piece.text }, signal, turn);
    } catch (error) {
      if (error instanceof Invalid) return { pcm: nothing() }; // only this piece is silent
      throw toEngineError(error);
    }
  };
  return await concatenate([first, ...others], { sampleRate, synthesizePiece }, signal);
};

async function* nothing(): AsyncGenerator<Buffer, void> {}

const pauseSeconds: Readonly<Record<Boundary, { before: number; after: number } | undefined>> = {
  sentence: undefined,
  clause: { before: 0.02, after: 0.1 },
  word: { before: 0.01, after: 0.01 },
};

const pausesOf = ({ before, after }: LocalPiece, sampleRate: number, volume: number): SilenceLimits => {
  const samples = (seconds: number | undefined) =>
    seconds === undefined ? undefined : Math.round(seconds * sampleRate);
  return {
    leading: samples(before && pauseSeconds[before]?.before),
    trailing: samples(after && pauseSeconds[after]?.after),
    silence: Math.max(1, Math.round(100 * volume)),
  };
};

/** A piece at the slowest rate takes 2 MB, and the breaks of a document another 3. */
const pieceBytes = 8 * 1024 * 1024;

/** Reads ahead, so that a slow client neither holds the slot of the tool nor exceeds its deadline. */
const prefetched = (pcm: AsyncIterable<Buffer>): AsyncIterable<Buffer> => {
  const prefetching = Readable.from(pcm, { objectMode: false, highWaterMark: pieceBytes });
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
