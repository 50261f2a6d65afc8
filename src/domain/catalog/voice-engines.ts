import { voiceLicences } from "./voice-licences.ts";

/**
 * Voices are listed in this order: `natural` is most like a person, `classic` sounds like a
 * machine.
 */
export const qualities = ["natural", "clear", "classic"] as const;
export type Quality = (typeof qualities)[number];

/** The program that speaks a voice. */
export interface VoiceEngine {
  readonly name: string;
  readonly quality: Quality;
}

/** Keys are prefixes of `SystemVoice.voiceName`. */
const engines: Readonly<Record<string, VoiceEngine>> = {
  hibari: { name: "Hibari", quality: "natural" },
  kokoro: { name: "Kokoro", quality: "natural" },
  pico: { name: "SVOX Pico", quality: "clear" },
  flite: { name: "Flite", quality: "classic" },
  espeak: { name: "espeak-ng", quality: "classic" },
  sherpa: { name: "Model", quality: "natural" },
  openai: { name: "Self-hosted server", quality: "natural" },
};

/** The engine of a voice with this `voiceName`, such as `espeak:gmw/en`. */
export const voiceEngine = (voiceName: string): VoiceEngine => {
  const prefix = prefixOf(voiceName);
  return Object.hasOwn(engines, prefix) && engines[prefix] ? engines[prefix] : other;
};

/**
 * Finds the licence of the voice itself, or of its model if it has one; undefined if only its
 * operator knows it.
 */
export const licenceOf = (voiceName: string): string | undefined =>
  voiceLicences.find(({ voices }) => voices.includes(prefixOf(voiceName)))?.licence;

const prefixOf = (voiceName: string): string => voiceName.slice(0, voiceName.indexOf(":"));

const other: VoiceEngine = { name: "Other", quality: "classic" };
