import type { NativeSynthesis, NativeUtterance, NativeVoice } from "../dom.ts";
import { VoxledgerError } from "../errors.ts";
import type { VoiceRequest } from "../transport/transport.ts";
import type { SystemVoice, Voice, VoiceCollection } from "../voices/voices.ts";
import type { PartPlayback, SpeechBackend } from "./speech-backend.ts";

/** The browser's own speech. */
export interface NativeSpeech {
  readonly synthesis: NativeSynthesis;
  utterance(text: string): NativeUtterance;
}

/** Below this, browsers take a rate for a mistake. */
const slowestRate = 0.1;

/** How long to wait for voices that a browser has not told of yet. */
const voicesWithinMs = 1_000;

/** The browser's voices; some browsers tell of them only a moment after the page has begun. */
export const nativeVoices = (synthesis: NativeSynthesis): Promise<readonly NativeVoice[]> =>
  new Promise((resolve) => {
    const told = synthesis.getVoices();
    if (told.length > 0) return resolve(told);
    const settled = new AbortController();
    const settle = (): void => {
      clearTimeout(timer);
      settled.abort(); // or each speech in a browser without voices would leave a listener
      resolve(synthesis.getVoices());
    };
    const timer = setTimeout(settle, voicesWithinMs);
    synthesis.addEventListener("voiceschanged", settle, { signal: settled.signal });
  });

/**
 * The browser's voice for a request: the first native voice behind a voice of the catalog that the browser has, or a
 * voice of the browser that the catalog does not name, or, when no voice is named, one of the language.
 */
export const matchingVoice = (
  voices: readonly NativeVoice[],
  { voice, lang }: Pick<VoiceRequest, "voice" | "lang">,
  catalog: Pick<VoiceCollection, "voices" | "systemVoices">,
): NativeVoice | undefined => {
  if (voice === undefined) {
    const speaking = voices.filter((one) => sameTag(one.lang, lang));
    return speaking.find((one) => one.default) ?? speaking.find((one) => one.localService) ?? speaking[0];
  }
  const known = catalog.voices.find(({ name }) => name === voice);
  if (!known) {
    const named = voices.filter(({ name }) => name === voice);
    return named.find((one) => sameTag(one.lang, lang)) ?? named[0];
  }
  return nativeVoicesBehind(known, catalog)
    .map((native) => voices.find((one) => isSameVoice(native, one)))
    .find((one) => one !== undefined);
};

/** The browsers' voices that the catalog names behind a voice, in its order; the service speaks the others. */
const nativeVoicesBehind = (
  { voiceIDs }: Voice,
  { systemVoices }: Pick<VoiceCollection, "systemVoices">,
): SystemVoice[] =>
  voiceIDs
    .map((id) => systemVoices.find((one) => one.id === id))
    .filter((one) => one !== undefined)
    .filter(({ service, fallbackVoice }) => service === undefined && !fallbackVoice);

const isSameVoice = ({ name, lang }: SystemVoice, browser: NativeVoice): boolean =>
  ownName(name) === ownName(browser.name) && (lang === undefined || sameTag(browser.lang, lang));

/** Without what browsers add in their own language: `Samantha (English (United States))`. The service's own rule. */
const ownName = (name: string): string =>
  name.normalize("NFC").replace(/^(.+?)( Desktop)?( - .*| ?[(（].*)?$/su, "$1");

const sameTag = (a: string, b: string | undefined): boolean =>
  b !== undefined && canonicalTag(a) === canonicalTag(b);

/** Android's browsers write `en_GB`, and `iw_IL` for `he-IL`. */
const canonicalTag = (tag: string): string => {
  try {
    return Intl.getCanonicalLocales(tag.replaceAll("_", "-")).join();
  } catch {
    return tag;
  }
};

/** Speaks by one of the browser's voices. */
export const nativeBackend = (
  { synthesis, utterance }: NativeSpeech,
  voice: NativeVoice,
  { prosody }: Pick<VoiceRequest, "prosody">,
): SpeechBackend => {
  const utter = (text: string, { signal, onStart, onBoundary }: PartPlayback): Promise<void> =>
    new Promise((resolve, reject) => {
      const spoken = utterance(text);
      spoken.voice = voice;
      spoken.lang = voice.lang;
      spoken.pitch = prosody.pitch;
      spoken.rate = Math.max(prosody.rate, slowestRate);
      spoken.volume = prosody.volume;
      spoken.onstart = onStart;
      spoken.onboundary = ({ charIndex, name }) => {
        if (name === "word" || name === "sentence") onBoundary(charIndex, name);
      };
      spoken.onend = () => resolve();
      spoken.onerror = ({ error }) => (signal.aborted ? resolve() : reject(failed(error)));
      const silence = (): void => {
        synthesis.cancel();
        synthesis.resume(); // a pause would outlive what was cancelled, and hold whatever is spoken next
        resolve();
      };
      signal.addEventListener("abort", silence, { once: true });
      synthesis.speak(spoken);
    });

  return {
    native: true,
    async *prepare(parts) {
      for (const part of parts) yield { part, play: (telling) => utter(part.text, telling) };
    },
    pause: () => synthesis.pause(),
    resume: () => synthesis.resume(),
  };
};

const failed = (reason: string): VoxledgerError =>
  new VoxledgerError(`The browser could not speak: ${reason}`, {
    code: reason === "not-allowed" ? "NOT_ALLOWED" : "PLAYBACK_FAILED",
  });
