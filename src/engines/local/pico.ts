import { join } from "node:path";
import packageJson from "@echogarden/svoxpico-wasm/package.json" with { type: "json" };
import { EngineFailed, NothingToSpeak, Unpronounceable } from "../../domain/errors.ts";
import type { Prosody } from "../../domain/synthesis/speech.ts";
import type { SpeechModel } from "../../subprocess/models.ts";
import type { PicoRequest, PicoStart } from "../../subprocess/pico.ts";
import type { InstalledVoice } from "../natural-voices/natural-voices.ts";
import { type Boundary, type LocalTool, type Pauses, slowestRate } from "./local-tool.ts";
import type { ModelStates } from "./model-states.ts";

/**
 * The version of the requests to the tool. Raise it when they change, or names would lead to old
 * audio. A test enforces it.
 */
const preparation = 1;

/** Pico's own level, 100, clips samples: in Spanish, hundreds of them per second. */
const level = 30;

const prefix = "pico";

/** A process that takes longer for a sentence, its start included, is killed. */
const deadlineMs = 30_000;

interface PicoOptions {
  /** The installed voices, by SystemVoice.voiceName. More may be added later. */
  readonly installed: ReadonlyMap<string, InstalledVoice>;
  /** Each voice has a circuit breaker of its own. */
  readonly states: ModelStates;
}

/** SVOX Pico with its installed voices. */
export const pico = ({ installed, states }: PicoOptions): LocalTool => {
  const installedAs = (voice: string): InstalledVoice | undefined => installed.get(`${prefix}:${voice}`);
  const modelOf = (voice: string): SpeechModel | undefined => {
    const found = installedAs(voice);
    return found && modelIn(found);
  };
  return {
    prefix,
    version: (voice) =>
      `SVOX Pico ${packageJson.version}; ${installedAs(voice)?.digest}; preparation ${preparation}`,
    has: (voice) => installedAs(voice) !== undefined,
    modelOf,
    prosodyParameters: () => ["pitch", "rate", "volume"],
    isReproducible: () => true,
    bySentence: true,
    reportsEvents: true,
    cost,
    unreadable: (text) => text.match(beyondPico) ?? [],
    pauses: (boundary, rate) => pauses[boundary](rate),
    pieceFor: ({ voice, text, prosody }) => {
      requireSpeakable(text);
      const model = modelOf(voice);
      if (!model) throw new EngineFailed("There is no such voice.");
      const request: PicoRequest = {
        ...{ voice, level, ...prosodyValues(prosody) },
        text: text.replace(pausing, " "),
      };
      return {
        job: { type: "model", model, request, deadlineMs },
        volume: prosody.volume,
        start: () => states.start(`${prefix}:${voice}`),
      };
    },
  };
};

/**
 * One program speaks all voices, so that their number does not multiply its processes. It also
 * knows voices that are not installed yet, because it opens each for its first text.
 */
const modelIn = ({ folder, package: { voices } }: InstalledVoice): SpeechModel => {
  const files = Object.entries(voices).map(([name, files]) => {
    const [textAnalysis = "", signal = ""] = files.map((file) => join(folder, file));
    return [name, { textAnalysis, signal }] as const;
  });
  return {
    name: prefix,
    program: "pico",
    start: { voices: Object.fromEntries(files) } satisfies PicoStart,
    memoryBytes: 256 * 1024 * 1024,
    idleMs: 10 * 60_000,
    processes: 2,
  };
};

/** Pitch ranges from 2/3 to 5/3 of the voice's own, as in espeak-ng. */
const prosodyValues = ({ rate, pitch }: Prosody): Pick<PicoRequest, "speed" | "pitch"> => ({
  speed: Math.round(100 * Math.max(rate, slowestRate)),
  pitch: Math.round(100 * (pitch < 1 ? (2 + pitch) / 3 : 1 + (2 / 3) * (pitch - 1))),
});

/**
 * Characters that Pico skips, after the preparation has named emoji and written other Latin letters
 * in ASCII.
 */
const beyondPico = /[[\p{L}\p{N}\p{Emoji_Presentation}]--[\p{ASCII}\u00a0-\u00ffŒœŠšŸŽž]]/gv;

/**
 * @throws {Unpronounceable} if another voice may read its signs
 * @throws {NothingToSpeak}
 */
const requireSpeakable = (text: string): void => {
  if (speakable.test(text)) return;
  const signs = text.match(beyondPunctuation);
  throw signs ? new Unpronounceable(signs) : new NothingToSpeak();
};

const speakable = /[\p{L}\p{N}%&@$+#^~_*=/\\|£€¥§°]/u;
const beyondPunctuation = /[^\p{P}\p{Z}\p{C}\p{M}]/gu;

/**
 * Signs at which Pico pauses as at the end of a sentence: `¿` and `¡`, and each further one of `?!`
 * or `!!!`.
 */
const pausing = /[¿¡]|(?<=[!?])[!?]/g;

/** A digit or a sign is read as a word, which takes as long as four letters. */
const cost = (text: string): number => {
  const letters = text.replace(/[^\p{L}\p{M}\s.,;:!?'"()-]/gu, "").length;
  return letters + 4 * (text.length - letters);
};

/** Pico ends every text with half a second of silence or more, at any rate. */
const pauses: Readonly<Record<Boundary, (rate: number) => Pauses>> = {
  sentence: (rate) => ({ after: 0.55 / Math.max(rate, slowestRate) }),
  clause: (rate) => ({ before: 0.02, after: 0.2 / Math.max(rate, slowestRate) }),
  word: () => ({ before: 0.01, after: 0.01 }),
};
