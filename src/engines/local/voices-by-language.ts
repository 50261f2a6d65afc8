import { matchLanguage } from "../../domain/catalog/language-match.ts";
import { releaseSeed } from "../../domain/catalog/seed/seed.ts";
import type { SystemVoice } from "../../domain/synthesis/speech.ts";

/** SystemVoice.voiceName, and the language that it speaks. */
interface VoiceInLanguage {
  readonly name: string;
  readonly lang: string;
}

/**
 * Finds voices for other languages among those of this release that espeak-ng speaks and for which
 * `has` is true.
 */
export const voicesByLanguage = (has: (voiceName: string) => boolean) => {
  const all = releaseSeed().systemVoices;
  const genders = new Map(all.map(({ voiceName, gender }) => [voiceName, gender]));
  const byLang = Map.groupBy(all.filter(isSpoken), ({ lang }) => lang);
  const langs = [...byLang.keys()];
  /**
   * Finds the voice for words of the language `wanted` in a text that `own` speaks: one of the same
   * variant, else one of the same gender. Undefined if `own` speaks the language itself, or no
   * voice does.
   */
  return (wanted: string, own: VoiceInLanguage): VoiceInLanguage | undefined => {
    const lang = matchLanguage(wanted, langs);
    if (lang === undefined || lang === matchLanguage(own.lang, langs)) return undefined;
    const speakers = (byLang.get(lang) ?? []).filter(({ voiceName }) => has(voiceName));
    const found =
      speakers.find(({ voiceName }) => variantOf(voiceName) === variantOf(own.name)) ??
      speakers.find(({ gender }) => gender === genders.get(own.name)) ??
      speakers[0];
    return found && { name: found.voiceName, lang };
  };
};

interface Spoken extends SystemVoice {
  readonly lang: string;
  readonly voiceName: string;
}

const isSpoken = (voice: SystemVoice): voice is Spoken =>
  voice.lang !== undefined && (voice.voiceName?.startsWith("espeak:") ?? false);

const variantOf = (voiceName: string): string => /^espeak:[^+]*(.*)$/.exec(voiceName)?.[1] ?? voiceName;
