import type { Configuration } from "../constructor-options.ts";
import type { NativeSpeech, NativeVoice } from "../dom.ts";
import { nativeVoices, voiceOfLanguage } from "./native-voices.ts";
import { canBe } from "./text-language.ts";

/** The browser's voices that may speak while the service cannot. They need nothing of it. */
export interface Fallback {
  /** True if the page allows any. */
  readonly isAllowed: boolean;
  /** Resolves when the browser has loaded its voices. */
  load(): Promise<unknown>;
  /** The voice for a text, by its language alone; that of the page if it is unknown. */
  voiceFor(text: string, lang: string | undefined): NativeVoice | undefined;
}

/** Voices that are not on the device send each text to their maker. */
export const createFallback = (
  fallback: Configuration["fallback"],
  nativeSpeech: NativeSpeech | undefined,
  /** The language that the page declares. */
  pageLanguage: () => string | undefined,
): Fallback => {
  if (fallback === "none" || !nativeSpeech) {
    return { isAllowed: false, load: async () => {}, voiceFor: () => undefined };
  }
  const { synthesis } = nativeSpeech;
  synthesis.getVoices(); // browsers load their voices after the first call
  let loading: Promise<unknown> | undefined;
  const isAllowed = ({ localService }: NativeVoice): boolean => localService || fallback === "native-remote";
  return {
    isAllowed: true,
    load: () => {
      loading ??= nativeVoices(synthesis); // a browser without voices is waited for once
      return loading;
    },
    voiceFor: (text, lang = pageLanguage() ?? "en") =>
      voiceOfLanguage(synthesis.getVoices().filter(isAllowed), canBe(text, lang) ? lang : "en"),
  };
};
