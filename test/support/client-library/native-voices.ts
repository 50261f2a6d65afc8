import type { Page } from "playwright-core";
import { tenTimesASecond } from "../browser.ts";

/** A text that the browser was asked to speak. */
export interface Utterance {
  readonly text: string;
  readonly voice: string;
  readonly rate: number;
}

interface NativeWindow {
  utterances: Utterance[];
  /** Ends the utterance that is being spoken. */
  endUtterance?: (() => void) | undefined;
}
declare const window: NativeWindow;

/** A voice of the browser: its language, which is also its name. */
export interface NativeVoiceOptions {
  readonly lang: string;
  readonly localService?: boolean;
}

/** Debian's Chromium has no voices. */
const install = (voices: readonly NativeVoiceOptions[]): void => {
  interface Spoken {
    readonly text: string;
    readonly voice: { readonly name: string };
    readonly rate: number;
    onstart?(): void;
    onend?(): void;
  }
  window.utterances = [];
  const noop = (): void => {};
  const speechSynthesis = {
    getVoices: () =>
      voices.map(({ lang, localService = true }) => {
        return { name: lang, lang, voiceURI: lang, localService, default: false };
      }),
    speak: (spoken: Spoken) => {
      window.utterances.push({ text: spoken.text, voice: spoken.voice.name, rate: spoken.rate });
      setTimeout(() => spoken.onstart?.());
      window.endUtterance = () => {
        window.endUtterance = undefined;
        spoken.onend?.();
      };
    },
    ...{ cancel: noop, pause: noop, resume: noop, addEventListener: noop },
  };
  class Utterance {
    readonly text: string;
    constructor(text: string) {
      this.text = text;
    }
  }
  Object.defineProperty(window, "speechSynthesis", { value: speechSynthesis });
  Object.defineProperty(window, "SpeechSynthesisUtterance", { value: Utterance });
};

/** Gives a page's browser these voices. An utterance lasts until the test ends it. */
export const installNativeVoices = (page: Page, voices: readonly NativeVoiceOptions[]): Promise<unknown> =>
  page.addInitScript(install, voices);

/** Resolves when the browser has been asked to speak this many texts. */
export const untilUtterances = async (page: Page, count: number): Promise<readonly Utterance[]> => {
  await page.waitForFunction(
    (least) => window.utterances.length >= least && window.endUtterance !== undefined,
    count,
    tenTimesASecond,
  );
  return await page.evaluate(() => window.utterances);
};

export const endUtterance = (page: Page): Promise<void> => page.evaluate(() => window.endUtterance?.());
