import type { Gender, SystemVoice, Voice } from "../synthesis/speech.ts";
import { matchLanguage } from "./language-match.ts";

/* Filters that return all voices if none matches. */

type AnyVoice = Pick<Voice | SystemVoice, "lang" | "gender" | "deprecated">;

/** The voices of the nearest language. A voice without a language speaks every language. */
export const preferLanguage = <V extends AnyVoice>(voices: readonly V[], wanted: string): readonly V[] => {
  if (voices.length < 2) return voices;
  const langs = new Set(voices.map(({ lang = wanted }) => lang));
  const nearest = matchLanguage(wanted, [...langs]);
  return preferring(voices, ({ lang = wanted }) => lang === nearest);
};

export const preferCurrent = <V extends AnyVoice>(voices: readonly V[]): readonly V[] =>
  preferring(voices, ({ deprecated }) => !deprecated);

export const preferGender = <V extends AnyVoice>(
  voices: readonly V[],
  wanted: Gender | undefined,
): readonly V[] => preferring(voices, ({ gender }) => gender === wanted?.charAt(0));

const preferring = <V>(voices: readonly V[], fits: (voice: V) => boolean): readonly V[] => {
  const fitting = voices.filter(fits);
  return fitting.length > 0 ? fitting : voices;
};
