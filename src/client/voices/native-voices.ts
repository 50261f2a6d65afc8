import type { SystemVoice, Voice, VoiceCollection } from "../api/voices.ts";
import type { NativeSynthesis, NativeVoice } from "../dom.ts";
import type { VoiceRequest } from "../transport/transport.ts";
import { canonicalTag, primaryLanguage } from "./text-language.ts";

/** The longest wait for the browser's voices. */
const voicesTimeoutMs = 1_000;

/** The browser's voices. Some browsers load them only after the page. */
export const nativeVoices = (synthesis: NativeSynthesis): Promise<readonly NativeVoice[]> =>
  new Promise((resolve) => {
    const loaded = synthesis.getVoices();
    if (loaded.length > 0) return resolve(loaded);
    const listening = new AbortController();
    const finish = (): void => {
      clearTimeout(timer);
      listening.abort(); // otherwise each speech in a browser without voices would leave a listener
      resolve(synthesis.getVoices());
    };
    const timer = setTimeout(finish, voicesTimeoutMs);
    synthesis.addEventListener("voiceschanged", finish, { signal: listening.signal });
  });

/**
 * Finds the browser's voice for a request. For a voice of the catalog, it is the first of its
 * native voices that the browser has; for another name, the browser's voice of that name; without a
 * name, one of the language.
 */
export const matchingVoice = (
  voices: readonly NativeVoice[],
  { voice, lang }: Pick<VoiceRequest, "voice" | "lang">,
  catalog: Pick<VoiceCollection, "voices" | "systemVoices">,
): NativeVoice | undefined => {
  if (voice === undefined) {
    return bestOf(voices.filter((one) => isSameLanguage(one.lang, lang)));
  }
  const catalogVoice = catalog.voices.find(({ name }) => name === voice);
  if (!catalogVoice) {
    const named = voices.filter(({ name }) => name === voice);
    return named.find((one) => isSameLanguage(one.lang, lang)) ?? named[0];
  }
  return nativeSystemVoices(catalogVoice, catalog)
    .map((native) => voices.find((one) => isSameVoice(native, one)))
    .find((one) => one !== undefined);
};

/** The voice for a language: one of the same region, or else any. */
export const voiceOfLanguage = (voices: readonly NativeVoice[], lang: string): NativeVoice | undefined =>
  bestOf(voices.filter((one) => isSameLanguage(one.lang, lang))) ??
  bestOf(voices.filter((one) => primaryLanguage(one.lang) === primaryLanguage(lang)));

const bestOf = (voices: readonly NativeVoice[]): NativeVoice | undefined =>
  voices.find((one) => one.default) ?? voices.find((one) => one.localService) ?? voices[0];

/** The native system voices of a voice, in the catalog's order. */
const nativeSystemVoices = (
  { voiceIDs }: Voice,
  { systemVoices }: Pick<VoiceCollection, "systemVoices">,
): SystemVoice[] =>
  voiceIDs
    .map((id) => systemVoices.find((one) => one.id === id))
    .filter((one) => one !== undefined)
    .filter(({ service, fallbackVoice }) => service === undefined && !fallbackVoice);

const isSameVoice = ({ name, lang }: SystemVoice, browser: NativeVoice): boolean =>
  baseName(name) === baseName(browser.name) && (lang === undefined || isSameLanguage(browser.lang, lang));

/**
 * Removes localized suffixes, as in `Samantha (English (United States))`. The service has the same
 * rule.
 */
const baseName = (name: string): string =>
  name.normalize("NFC").replace(/^(.+?)( Desktop)?( - .*| ?[(（].*)?$/su, "$1");

/** Android's browsers write `en_GB`, and `iw_IL` for `he-IL`. */
const isSameLanguage = (a: string, b: string | undefined): boolean =>
  b !== undefined && (canonicalTag(a) ?? a) === (canonicalTag(b) ?? b);
