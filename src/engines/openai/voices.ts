import type { ShortGender } from "../../domain/synthesis/speech.ts";
import type { ProviderVoice } from "../provider.ts";

/** The properties of a voice by its name. Without a language it speaks any; unknown genders count as female. */
export const voiceOf = (name: string): ProviderVoice => {
  const [, language = "", gender] = kokoroName.exec(name) ?? [];
  const lang = kokoroLanguages[language];
  if (lang !== undefined) return { name, lang, gender: gender as ShortGender };
  return { name, lang: undefined, gender: openAiVoices[name] ?? "f" };
};

/**
 * OpenAI's voices, which it does not list. It does not document genders: these are by ear, for neutral voices (alloy,
 * fable) by pitch.
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

/**
 * Kokoro encodes language and gender in two letters: `af_bella`, `bm_george`; mixtures (`af_bella+af_sky`) by the
 * first voice.
 */
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
