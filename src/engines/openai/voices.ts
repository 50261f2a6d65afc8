import { kokoroLanguages } from "../../domain/catalog/natural-voices.ts";
import type { ShortGender } from "../../domain/synthesis/speech.ts";
import type { ProviderVoice } from "../provider.ts";

/**
 * The properties of a voice by its name. Without a language it speaks any; unknown genders count as
 * female.
 */
export const voiceOf = (name: string): ProviderVoice => {
  const kokoro = kokoroVoiceOf(name);
  return kokoro ? { ...kokoro, name } : { name, lang: undefined, gender: openAiVoices[name] ?? "f" };
};

/**
 * Reads a voice from its name in Kokoro. The returned `name` leaves out language and gender.
 * Undefined for other names.
 */
export const kokoroVoiceOf = (name: string): (ProviderVoice & { readonly lang: string }) | undefined => {
  const [, language = "", gender, own = ""] = kokoroName.exec(name) ?? [];
  const lang = kokoroLanguages[language];
  return lang === undefined ? undefined : { name: own, lang, gender: gender as ShortGender };
};

/**
 * OpenAI's voices, which it does not list. It does not document genders: these were decided by ear,
 * and those of neutral voices (alloy, fable) by pitch.
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

/** OpenAI's models that speak over a WebSocket only. */
export const isRealtimeModel = (model: string): boolean => /^gpt-(?:4o-(?:mini-)?)?realtime/.test(model);

/** OpenAI's API reference lists no others for realtime models. */
const notRealtime: readonly string[] = ["fable", "nova", "onyx"];

/** The names of OpenAI's voices that a model has. */
export const openAiNamesOf = (model: string): readonly string[] =>
  Object.keys(openAiVoices).filter((name) => !isRealtimeModel(model) || !notRealtime.includes(name));

/**
 * Kokoro encodes language and gender in two letters: `af_bella`, `bm_george`; a mixture
 * (`af_bella+af_sky`) has those of its first voice.
 */
const kokoroName = /^([a-z])([fm])_([a-z].*)$/s;
