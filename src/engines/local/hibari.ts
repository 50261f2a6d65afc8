import { join } from "node:path";
import { backgroundTime } from "../../async/time.ts";
import { EngineFailed } from "../../domain/errors.ts";
import { hibariCode } from "../../natural/hibari/voice.ts";
import type { HibariRequest, HibariStart } from "../../subprocess/hibari.ts";
import type { SpeechModel } from "../../subprocess/models.ts";
import type { PieceUse } from "../../subprocess/speech/speech-job.ts";
import type { SubprocessHost } from "../../subprocess/subprocess-host.ts";
import type { InstalledVoice } from "../natural-voices/natural-voices.ts";
import { type Boundary, type LocalTool, type Pauses, slowestRate } from "./local-tool.ts";
import type { ModelStates } from "./model-states.ts";
import {
  pitchFactor,
  pronouncedRequest,
  requireReadable,
  speakableInEnglish,
  unreadInEnglish,
} from "./pronounced-request.ts";

interface HibariOptions {
  /** Loads the voices that are kept loaded. */
  readonly host: Pick<SubprocessHost, "speakByModel">;
  /** The installed voices, by SystemVoice.voiceName. More may be added later. */
  readonly installed: ReadonlyMap<string, InstalledVoice>;
  readonly states: ModelStates;
  readonly idleMs: number;
  /** A process that takes longer for a sentence, its start included, is killed. Default: 30 s. */
  readonly deadlineMs?: number;
}

export interface Hibari extends LocalTool {
  /**
   * Loads a voice, which then stays loaded: the next process is started soon after one has ended.
   * Its state reports a failure.
   */
  keepLoaded(voice: string): Promise<void>;
}

/**
 * The version of the requests to the tool. Raise it when they change, or names would lead to old
 * audio. A test enforces it.
 */
const preparation = 1;

const prefix = "hibari";
const runtime = "onnxruntime-web 1.30.0";

const voices: Readonly<Record<string, { readonly file: string; readonly isBritish: boolean }>> = {
  heart: { file: "hibari.onnx", isBritish: false },
  emma: { file: "bf_emma.int8.onnx", isBritish: true },
  fable: { file: "bm_fable.int8.onnx", isBritish: true },
  fenrir: { file: "am_fenrir_v2.int8.onnx", isBritish: false },
  kore: { file: "af_kore.int8.onnx", isBritish: false },
};

/**
 * Room for the compiled runtime, a model and the front end, and for twice as much while the runtime
 * is compiled.
 */
const memoryBytes = 512 * 1024 * 1024;

/**
 * If a use of a voice that is kept loaded fails or is aborted, the voice is loaded again after this
 * time, unless another use has begun. The delay lets a repeated text load the voice itself. Without
 * the delay, the text would have to wait for the end of that load.
 */
const reloadMs = 2_000;

/** This is 24 days, the longest time of a timer. */
const always = 2 ** 31 - 1;

/** hibari with its installed voices: neural English in WebAssembly. */
export const hibari = ({ host, installed, states, idleMs, deadlineMs = 30_000 }: HibariOptions): Hibari => {
  const installedAs = (voice: string): InstalledVoice | undefined => installed.get(`${prefix}:${voice}`);
  const has = (voice: string): boolean => Object.hasOwn(voices, voice) && installedAs(voice) !== undefined;
  const kept = new Set<string>();
  /** The use of each voice that began last. */
  const latest = new Map<string, ReturnType<ModelStates["start"]>>();

  const modelOf = (voice: string): SpeechModel | undefined => {
    const known = voices[voice];
    const { folder } = installedAs(voice) ?? {};
    if (!known || folder === undefined) return undefined;
    const start: HibariStart = { model: join(folder, known.file), folder, isBritish: known.isBritish };
    return {
      ...{ name: `${prefix}_${voice}`, program: "hibari", start, memoryBytes },
      idleMs: kept.has(voice) ? always : idleMs,
    };
  };

  const modelFor = (voice: string): SpeechModel => {
    const model = modelOf(voice);
    if (!model) throw new EngineFailed("There is no such voice.");
    return model;
  };
  const start = (voice: string): PieceUse => {
    const call = states.start(modelFor(voice).name);
    latest.set(voice, call);
    const reloadLater = (): void => {
      if (!kept.has(voice)) return;
      backgroundTime.after(reloadMs, () => {
        if (latest.get(voice) === call) void keepLoaded(voice);
      });
    };
    return {
      succeeded: call.succeeded,
      failed: (error) => {
        call.failed(error);
        reloadLater();
      },
      ignored: () => {
        call.ignored();
        reloadLater();
      },
    };
  };

  const keepLoaded = async (voice: string): Promise<void> => {
    kept.add(voice);
    let call: ReturnType<ModelStates["start"]> | undefined;
    try {
      const model = modelFor(voice);
      call = states.start(model.name);
      latest.set(voice, call);
      const request: HibariRequest = { text: "", speed: 1, pitch: 1 };
      for await (const _ of host.speakByModel({ model, request, deadlineMs }, new AbortController().signal));
      call.succeeded();
    } catch (error) {
      call?.failed(error); // its state reports it
    }
  };

  return {
    prefix,
    version: (voice) =>
      `${hibariCode}; ${runtime}; ${installedAs(voice)?.digest}; preparation ${preparation}`,
    has,
    modelOf,
    prosodyParameters: () => ["pitch", "rate", "volume"],
    isReproducible: () => true,
    bySentence: true,
    takesPhonemes: true,
    reportsPhonemes: true,
    reportsEvents: true,
    cost,
    maxCost: 160,
    unreadable: unreadInEnglish,
    pauses: (boundary) => pauses[boundary],
    pieceFor: (request) => {
      const { voice, prosody } = request;
      const { text, pronounced, placed } = pronouncedRequest(request);
      requireReadable(text, speakableInEnglish);
      const modelRequest: HibariRequest = {
        text,
        ...(pronounced && { pronounced }),
        speed: Math.max(prosody.rate, slowestRate),
        pitch: pitchFactor(prosody),
      };
      return {
        job: { type: "model", model: modelFor(voice), request: modelRequest, deadlineMs },
        ...{ placed, volume: prosody.volume },
        start: () => start(voice),
      };
    },
    keepLoaded,
  };
};

/** A digit or a sign is read as a word, which takes as long as four letters. */
const cost = (text: string): number => {
  const letters = text.replace(/[^\p{L}\p{M}\s.,;:!?'"()-]/gu, "").length;
  return letters + 4 * (text.length - letters);
};

/**
 * hibari begins each text with a third of a second of silence, and ends it with as much. At commas
 * it pauses for a quarter of a second.
 */
const pauses: Readonly<Record<Boundary, Pauses>> = {
  sentence: { before: 0.1, after: 0.35 },
  clause: { before: 0.05, after: 0.2 },
  word: { before: 0.01, after: 0.01 },
};
