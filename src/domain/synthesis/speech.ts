import { type ByokEngine, byokEngines, byokProviders } from "./byok-providers.ts";
import type { AudioFormat } from "./formats.ts";

export const freeEngines = ["g1", "g2", "g3", "g5"] as const;
/** The formats of texts that a request may state. */
export const textFormats = ["plain", "ssml", "markdown"] as const;
export type TextFormat = (typeof textFormats)[number];

export type FreeEngine = (typeof freeEngines)[number];

/** Engine codes (TTSService). */
export type EngineCode = FreeEngine | ByokEngine;
export const engineCodes: readonly EngineCode[] = [...freeEngines, ...byokEngines];

/** The prosody parameters, in the order in which they are always listed. */
export const prosodyParameters = ["pitch", "rate", "volume"] as const;
export type ProsodyParameter = (typeof prosodyParameters)[number];

/** pitch and rate: 0 to 2, 1 is normal; volume: 0 to 1, 1 is normal. */
export type Prosody = Readonly<Record<ProsodyParameter, number>>;
export const normalProsody: Prosody = { pitch: 1, rate: 1, volume: 1 };

export type Gender = "female" | "male";
export type ShortGender = "f" | "m";

/** The genders that requests may name. */
export const genderNames = ["m", "male", "f", "female"] as const;
export type GenderName = (typeof genderNames)[number];

interface EngineTraits {
  readonly formats: readonly AudioFormat[];
  readonly defaultFormat: AudioFormat;
}

export const engines: Readonly<Record<EngineCode, EngineTraits>> = {
  g1: { formats: ["mp3"], defaultFormat: "mp3" },
  g2: { formats: ["mp3"], defaultFormat: "mp3" },
  g3: { formats: ["mp3"], defaultFormat: "mp3" },
  g5: { formats: ["ogg"], defaultFormat: "ogg" },
  ...byokProviders,
};

/** Maps a voice to an engine (SystemVoice in the API). */
export interface SystemVoice {
  readonly id: number;
  readonly name: string;
  readonly lang?: string;
  /** Factors on the request's own prosody, 1 when absent. */
  readonly rate?: number;
  readonly pitch?: number;
  readonly volume?: number;
  readonly timerSpeed?: number;
  /** True if this service speaks it. Clients should prefer native voices. */
  readonly fallbackVoice?: boolean;
  /** Absent for a voice that only browsers have. */
  readonly service?: EngineCode;
  /** The engine's own name for the voice, e.g. `espeak:gmw/en-US+f3`, `flite:slt`. */
  readonly voiceName?: string;
  readonly gender?: ShortGender;
  readonly deprecated?: boolean;
}

/** A voice as users know it (Voice in the API). */
export interface Voice {
  readonly name: string;
  readonly flag: string;
  readonly gender: ShortGender;
  /** The language tag (BCP-47). */
  readonly lang: string;
  /** Its system voices, which are tried in this order. */
  readonly voiceIDs: readonly number[];
  readonly deprecated?: boolean;
  readonly isByok?: boolean;
  readonly provider?: string;
}
