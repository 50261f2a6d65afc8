import { kokoroLanguages } from "../../domain/catalog/natural-voices.ts";
import { EngineFailed } from "../../domain/errors.ts";
import { kokoroCode } from "../../natural/kokoro/voice.ts";
import type { KokoroReader, KokoroRequest, KokoroStart } from "../../subprocess/kokoro.ts";
import type { SpeechModel } from "../../subprocess/models.ts";
import type { SubprocessHost } from "../../subprocess/subprocess-host.ts";
import type { InstalledVoice } from "../natural-voices/natural-voices.ts";
import { gainOf } from "./gains.ts";
import { type Boundary, type LocalTool, type Pauses, slowestRate } from "./local-tool.ts";
import type { ModelStates } from "./model-states.ts";
import {
  pitchFactor,
  pronouncedRequest,
  requireReadable,
  speakableInEnglish,
  unreadInEnglish,
} from "./pronounced-request.ts";

export interface KokoroOptions {
  readonly host: SubprocessHost;
  /** The installed voices, by SystemVoice.voiceName. More may be added later. */
  readonly installed: ReadonlyMap<string, InstalledVoice>;
  readonly states: ModelStates;
  readonly idleMs: number;
  /**
   * A process that takes longer for a sentence, its start included, is killed. Default: 4 minutes.
   */
  readonly deadlineMs?: number;
}

/**
 * The version of the requests to the tool. Raise it when they change, or names would lead to old
 * audio. A test enforces it.
 */
const preparation = 1;

const prefix = "kokoro";
const runtime = "onnxruntime-web 1.30.0";

const readers: Readonly<Record<string, KokoroReader>> = {
  "en-US": { accent: "us" },
  "en-GB": { accent: "gb" },
  "es-ES": { espeak: "roa/es" },
  "fr-FR": { espeak: "roa/fr" },
  "hi-IN": { espeak: "inc/hi" },
  "it-IT": { espeak: "roa/it" },
  "pt-BR": { espeak: "roa/pt-BR" },
};

/** The reader of a voice's texts; undefined if nothing here reads its language. */
const readerOf = (voice: string): KokoroReader | undefined => readers[kokoroLanguages[voice.charAt(0)] ?? ""];

const isEnglish = (reader: KokoroReader | undefined): boolean => reader !== undefined && "accent" in reader;

/**
 * The memory limit has room for the model, its voices and the front ends, and for half as much
 * again while the model is loaded.
 */
const memoryBytes = 1280 * 1024 * 1024;

/**
 * A sentence of 300 letters takes a minute on a core, which the processes of other tools may share.
 */
const longestMs = 4 * 60_000;

/**
 * The tool Kokoro with its installed voices. It is slow, and runs in WebAssembly in a process of
 * its own.
 */
export const kokoro = ({
  host,
  installed,
  states,
  idleMs,
  deadlineMs = longestMs,
}: KokoroOptions): LocalTool => {
  const installedAs = (voice: string): InstalledVoice | undefined => installed.get(`${prefix}:${voice}`);
  const modelOf = (voice: string): SpeechModel | undefined => {
    const { folder } = installedAs(voice) ?? {};
    if (folder === undefined) return undefined;
    const start: KokoroStart = { folder };
    // The model may take all the time of a core, so other tools go first.
    return { ...{ name: prefix, program: "kokoro", start, memoryBytes, idleMs }, lowPriority: true };
  };

  const pieceFor: LocalTool["pieceFor"] = (request) => {
    const { voice, prosody } = request;
    const reader = readerOf(voice);
    const model = modelOf(voice);
    if (!reader || !model) throw new EngineFailed("There is no such voice.");
    const { text, pronounced, placed } = pronouncedRequest(request);
    requireReadable(text, isEnglish(reader) ? speakableInEnglish : speakable);
    const modelRequest: KokoroRequest = {
      ...{ text, voice: `${voice}.bin`, reader },
      ...(pronounced && { pronounced }),
      speed: Math.max(prosody.rate, slowestRate),
      pitch: pitchFactor(prosody),
      gain: gainOf(`${prefix}:${voice}`),
    };
    return {
      job: { type: "model", model, request: modelRequest, deadlineMs },
      ...{ placed, volume: prosody.volume },
      start: () => states.start(prefix),
    };
  };

  return {
    prefix,
    version: (voice) => {
      const phonemes = isEnglish(readerOf(voice)) ? "" : `espeak-ng ${host.versions["espeak-ng"]}; `;
      return `${kokoroCode}; ${runtime}; ${installedAs(voice)?.digest}; ${phonemes}preparation ${preparation}`;
    },
    has: (voice) =>
      installedAs(voice) !== undefined && (isEnglish(readerOf(voice)) || host.espeak === "library"),
    modelOf,
    prosodyParameters: () => ["pitch", "rate", "volume"],
    isReproducible: (voice) => isEnglish(readerOf(voice)),
    bySentence: true,
    takesPhonemes: true,
    appliesGain: true,
    reportsPhonemes: true,
    reportsEvents: true,
    cost,
    unreadable: (text, lang) => (/^en\b/.test(lang) ? unreadInEnglish(text) : []),
    pauses: (boundary) => pauses[boundary],
    pieceFor,
  };
};

/** espeak-ng, the front end of the languages other than English, reads letters and digits. */
const speakable = /[\p{L}\p{N}]/u;

/** A digit or a sign is read as a word, which takes as long as four letters. */
const cost = (text: string): number => {
  const letters = text.replace(/[^\p{L}\p{M}\s.,;:!?'"()-]/gu, "").length;
  return letters + 4 * (text.length - letters);
};

/** Kokoro begins and ends each text with silence. */
const pauses: Readonly<Record<Boundary, Pauses>> = {
  sentence: { before: 0.1, after: 0.35 },
  clause: { before: 0.02, after: 0.08 },
  word: { before: 0.01, after: 0.01 },
};
