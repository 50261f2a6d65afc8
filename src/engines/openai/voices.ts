import type { ShortGender } from "../../domain/synthesis/speech.ts";
import type { ProviderVoice } from "../provider.ts";

/** What a name tells of its voice. Without a language it speaks whatever it is given; nameless genders count as female. */
export const voiceOf = (name: string): ProviderVoice => {
  const [, language = "", gender] = kokoroName.exec(name) ?? [];
  const lang = kokoroLanguages[language];
  if (lang !== undefined) return { name, lang, gender: gender as ShortGender };
  return { name, lang: undefined, gender: openAiVoices[name] ?? "f" };
};

/**
 * OpenAI's own; it has no list to ask for. It does not call their genders by name either: these are what they sound
 * like, those it describes as neutral (alloy, fable) by their pitch.
 */
const openAiVoices: Readonly<Record<string, ShortGender>> = {
  alloy: "f",
  ash: "m",
  ballad: "m",
  coral: "f",
  echo: "m",
  fable: "m",
  onyx: "m",
  nova: "f",
  sage: "f",
  shimmer: "f",
  verse: "m",
  marin: "f",
  cedar: "m",
};

export const openAiNames: readonly string[] = Object.keys(openAiVoices);

/** Kokoro tells language and gender by two letters: `af_bella`, `bm_george`; a mixture (`af_bella+af_sky`) by its first. */
const kokoroName = /^([a-z])([fm])_[a-z]/;

const kokoroLanguages: Readonly<Record<string, string>> = {
  a: "en-US",
  b: "en-GB",
  e: "es-ES",
  f: "fr-FR",
  h: "hi-IN",
  i: "it-IT",
  j: "ja-JP",
  p: "pt-BR",
  z: "zh-CN",
};
