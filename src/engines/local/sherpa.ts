import { readFileSync } from "node:fs";
import { EngineFailed, NothingToSpeak } from "../../domain/errors.ts";
import type { SpeechModel } from "../../subprocess/models.ts";
import type { SherpaPart, SherpaRequest, SherpaStart } from "../../subprocess/sherpa.ts";
import type { SubprocessHost } from "../../subprocess/subprocess-host.ts";
import type { SpeechRequest } from "../engine.ts";
import { missingLibrary } from "../models/library.ts";
import type { ModelPack, PackSpeaker } from "../models/pack.ts";
import { modelPrefix, voiceNameOf } from "../models/voices.ts";
import { type Boundary, type LocalTool, type Pauses, slowestRate, type ToolPiece } from "./local-tool.ts";
import type { ModelStates } from "./model-states.ts";

export interface SherpaOptions {
  readonly host: SubprocessHost;
  /** The version of the library. Undefined if it is not installed: then every voice fails. */
  readonly library: string | undefined;
  readonly states: ModelStates;
  readonly limits: Pick<SpeechModel, "memoryBytes" | "idleMs"> & Pick<SherpaStart, "threads">;
}

/**
 * The version of the requests to the tool. Raise it when they change, or names would lead to old
 * audio. A test enforces it.
 */
const preparation = 1;

/** sherpa-onnx with an engine's packs. Its voices are `PACK#SPEAKER`. */
export const sherpa = (packs: readonly ModelPack[], options: SherpaOptions): LocalTool => {
  const voices = new Map(
    packs.flatMap((pack) => pack.speakers.map((speaker) => [voiceNameOf(pack, speaker), { pack, speaker }])),
  );
  const packOf = (voice: string): ModelPack | undefined => voices.get(voice)?.pack;
  return {
    prefix: modelPrefix,
    version: (voice) => versionOf(packOf(voice), options),
    isExact: (voice) => packOf(voice)?.isExact ?? true,
    modelOf: (voice) => packOf(voice),
    has: (voice) => voices.has(voice),
    prosodyParameters: () => ["rate", "volume"],
    bySentence: true,
    reportsEvents: true,
    cost,
    pauses: (boundary) => pauses[boundary],
    pieceFor: (request) => {
      const voice = voices.get(request.voice);
      if (!voice) throw new EngineFailed("There is no such model.");
      if (options.library === undefined) throw new EngineFailed(missingLibrary);
      return pieceFor({ ...voice, ...options }, request);
    },
  };
};

/**
 * Loads a pack's model.
 * @throws {ToolFailed}
 * @throws {Unavailable}
 */
export const loadModel = async (
  pack: ModelPack,
  { host, limits }: Pick<SherpaOptions, "host" | "limits">,
  signal = new AbortController().signal,
): Promise<void> => {
  const request: SherpaRequest = { speaker: 0, speed: 1, parts: [] };
  const job = { model: modelOf(pack, limits), request };
  for await (const _ of host.speakByModel(job, signal));
};

/** The description of a model for its process. */
const modelOf = (
  { name, config }: ModelPack,
  { threads, ...limits }: SherpaOptions["limits"],
): SpeechModel => ({
  name,
  program: "sherpa",
  start: { config, threads } satisfies SherpaStart,
  ...limits,
  // Its threads must not delay the service and the short texts of other tools.
  lowPriority: true,
});

/**
 * If bytes are not exact, the version names only the pack, so that stored audio is valid on every
 * machine.
 */
const versionOf = (pack: ModelPack | undefined, { library, limits }: SherpaOptions): string => {
  if (!pack) return "none";
  const model = `${pack.kind} ${pack.digest}`;
  if (!pack.isExact) return `sherpa-onnx; ${model}; preparation ${preparation}`;
  return `sherpa-onnx ${library}; ${model}; preparation ${preparation}; ${limits.threads} threads; ${instructionSets()}`;
};

/**
 * The library chooses its kernels by these instructions: processors that differ in them may round
 * differently, so they are part of the version of models whose bytes are exact.
 */
const relevantInstructions = ["avx", "avx2", "fma", "avx512f", "avx512_vnni", "avx_vnni", "amx_tile"].concat(
  ["asimddp", "asimdhp", "i8mm", "bf16", "sve"], // arm64
);

/** Lists them as `x64 avx avx2 fma`. */
const instructionSets = (): string => {
  const [, flags = ""] = /^(?:flags|Features)\s*:(.*)$/m.exec(cpuInfo()) ?? [];
  const present = new Set(flags.trim().split(/\s+/));
  return [process.arch, ...relevantInstructions.filter((name) => present.has(name))].join(" ");
};

const cpuInfo = (): string => {
  try {
    return readFileSync("/proc/cpuinfo", "utf8");
  } catch {
    return ""; // not on Linux
  }
};

interface PieceOptions extends SherpaOptions {
  readonly pack: ModelPack;
  readonly speaker: PackSpeaker;
}

const pieceFor = ({ states, pack, speaker, limits }: PieceOptions, request: SpeechRequest): ToolPiece => {
  const { rate, volume } = request.prosody;
  const modelRequest: SherpaRequest = {
    speaker: speaker.id,
    speed: Math.max(rate, slowestRate),
    parts: partsOf(request),
  };
  return {
    job: { type: "model", model: modelOf(pack, limits), request: modelRequest },
    volume,
    start: () => states.start(pack.name),
  };
};

/**
 * @throws {Invalid} if there is nothing to speak: a text without letters and digits makes some
 * models hum
 */
const partsOf = ({ text }: SpeechRequest): SherpaPart[] => {
  if (!speakable.test(text)) throw new NothingToSpeak();
  const position = text.length - text.trimStart().length;
  return [{ text: text.trim().replace(controls, " "), position, pauseMs: 0 }];
};

const speakable = /[\p{L}\p{N}]/u;
const controls = /\p{Cc}/gu;

/**
 * A digit or a sign is read as a word, which takes as long as four letters; so does an ideograph.
 */
const cost = (text: string): number => {
  const letters = text.replace(/[^\p{L}\p{M}\s.,;:!?'"()-]|[\p{Script=Han}]/gu, "").length;
  return letters + 4 * (text.length - letters);
};

const pauses: Readonly<Record<Boundary, Pauses>> = {
  sentence: {},
  clause: { before: 0.02, after: 0.08 },
  word: { before: 0.01, after: 0.01 },
};
