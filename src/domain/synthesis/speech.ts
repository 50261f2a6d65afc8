import { type AudioFormat, audioFormats } from "./formats.ts";

/** Engine codes (TTSService). */
export const engineCodes = ["g1", "g2", "g3", "g5", "gwn", "msv", "oai"] as const;
export type EngineCode = (typeof engineCodes)[number];

/** The prosody knobs, in the stable order in which they are always told. */
export const knobs = ["pitch", "rate", "volume"] as const;
export type Knob = (typeof knobs)[number];

/** pitch and rate: 0 to 2, 1 is normal; volume: 0 to 1, 1 is normal. */
export type Prosody = Readonly<Record<Knob, number>>;
export const normalProsody: Prosody = { pitch: 1, rate: 1, volume: 1 };

export type Gender = "female" | "male";
export type ShortGender = "f" | "m";

/** What requests call genders. */
export const genderNames = ["m", "male", "f", "female"] as const;
export type GenderName = (typeof genderNames)[number];

/** What an engine is, whoever implements it. */
export interface EngineTraits {
  readonly formats: readonly AudioFormat[];
  readonly defaultFormat: AudioFormat;
  /** Premium: runs on the website's own credentials. */
  readonly byok: boolean;
}

export const engines: Readonly<Record<EngineCode, EngineTraits>> = {
  g1: { formats: ["mp3"], defaultFormat: "mp3", byok: false },
  g2: { formats: ["mp3"], defaultFormat: "mp3", byok: false },
  g3: { formats: ["mp3"], defaultFormat: "mp3", byok: false },
  g5: { formats: ["ogg"], defaultFormat: "ogg", byok: false },
  gwn: { formats: ["mp3", "ogg"], defaultFormat: "mp3", byok: true },
  msv: { formats: audioFormats, defaultFormat: "mp3", byok: true },
  oai: { formats: audioFormats, defaultFormat: "mp3", byok: true },
};

/** The low-level mapping of a voice to an engine (the description's SystemVoice). */
export interface SystemVoice {
  readonly id: number;
  readonly name: string;
  readonly lang?: string;
  /** Factors on the request's own prosody, 1 when absent. */
  readonly rate?: number;
  readonly pitch?: number;
  readonly volume?: number;
  readonly timerSpeed?: number;
  /** True exactly when this service speaks it, and clients should use it only where they lack the native voices. */
  readonly fallbackVoice?: boolean;
  /** Absent for a voice that only a browser has. */
  readonly service?: EngineCode;
  /** The engine's own name for the voice, e.g. `espeak:gmw/en-US+f3`, `flite:slt`. */
  readonly voiceName?: string;
  readonly gender?: ShortGender;
  readonly deprecated?: boolean;
}

/** A voice as users know it (the description's Voice). */
export interface Voice {
  readonly name: string;
  readonly flag: string;
  readonly gender: ShortGender;
  /** BCP-47. */
  readonly lang: string;
  /** Tried in this order. */
  readonly voiceIDs: readonly number[];
  readonly deprecated?: boolean;
  readonly isByok?: boolean;
  readonly provider?: string;
}

/** Characters as they are counted: Unicode code points of the text as sent. */
export const countCharacters = (text: string): number => {
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0xd800 && unit < 0xdc00) {
      const next = text.charCodeAt(i + 1);
      if (next >= 0xdc00 && next < 0xe000) i++;
    }
    count++;
  }
  return count;
};
