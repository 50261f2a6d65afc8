/** In the order in which voices are listed: `natural` is most like a person, `classic` sounds like a machine. */
export const qualities = ["natural", "clear", "classic"] as const;
export type Quality = (typeof qualities)[number];

/** The program that speaks a voice. */
export interface VoiceEngine {
  readonly name: string;
  /** SPDX identifier of the licence of the voice's program and data. Undefined: its operator knows. */
  readonly licence?: string;
  readonly quality: Quality;
}

/** By the prefix of `SystemVoice.voiceName`. */
const engines: Readonly<Record<string, VoiceEngine>> = {
  hibari: { name: "Hibari", licence: "Apache-2.0", quality: "natural" },
  kokoro: { name: "Kokoro", licence: "Apache-2.0", quality: "natural" },
  pico: { name: "SVOX Pico", licence: "Apache-2.0", quality: "clear" },
  flite: { name: "Flite", licence: "BSD-like (CMU Flite)", quality: "classic" },
  espeak: { name: "espeak-ng", licence: "GPL-3.0-or-later", quality: "classic" },
  sherpa: { name: "Model", quality: "natural" },
  openai: { name: "Self-hosted server", quality: "natural" },
};

/** The engine of a voice with this `voiceName`, such as `espeak:gmw/en`. */
export const voiceEngine = (voiceName: string): VoiceEngine => {
  const prefix = voiceName.slice(0, voiceName.indexOf(":"));
  return Object.hasOwn(engines, prefix) && engines[prefix] ? engines[prefix] : other;
};

const other: VoiceEngine = { name: "Other", quality: "classic" };
