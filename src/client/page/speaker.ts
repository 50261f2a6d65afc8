import type { SpeakParams, SpeechResult, TextSection, Voxledger } from "../voxledger.ts";

export type Speaker = ReturnType<typeof createSpeaker>;

interface Current {
  readonly sections: readonly TextSection[];
  readonly isArticle?: boolean;
  readonly isAnnouncement: boolean;
}

/** Longer texts are cut, because each character is charged. */
const maxAnnouncementLength = 4_000;

export const createSpeaker = (voxledger: Voxledger) => {
  let current: Current | undefined;

  const speak = async (own: Current, params?: SpeakParams, speed = 1): Promise<SpeechResult> => {
    current = own;
    voxledger.setSpeed(speed);
    try {
      // Caches may hold a library from before it had articles.
      if (own.isArticle && "speakArticle" in voxledger) {
        return await voxledger.speakArticle(own.sections, params);
      }
      return await voxledger.speak(forLibrary(voxledger, own.sections), params);
    } finally {
      if (current === own) current = undefined;
    }
  };

  return {
    /** Loads what the first speech needs. A library that a cache has kept may lack the method. */
    prepare: (defaultVoice: string | undefined): void =>
      void voxledger.prepare?.(defaultVoice === undefined ? {} : { defaultVoice }),
    /**
     * Speaks sections at the user's request, and cancels the current speech.
     * @throws {VoxledgerError}
     */
    speak: (sections: readonly TextSection[], params?: SpeakParams, speed?: number): Promise<SpeechResult> =>
      speak({ sections, isAnnouncement: false }, params, speed),
    /** The same for the paragraphs of an article. */
    readArticle: (
      sections: readonly TextSection[],
      params: SpeakParams,
      speed: number,
    ): Promise<SpeechResult> => speak({ sections, isArticle: true, isAnnouncement: false }, params, speed),
    /**
     * Speaks a text that the user has not asked for. Cancels earlier announcements, but never a
     * speech that the user has asked for. `lang` is the language that the page declares for it.
     * Resolves with true if the text was spoken.
     */
    announce: async (text: string, lang?: string): Promise<boolean> => {
      if (current && !current.isAnnouncement) return false;
      const own = { sections: [{ text: text.slice(0, maxAnnouncementLength), lang }], isAnnouncement: true };
      const spoken = await speak(own).catch(() => undefined); // OnError has reported it
      return spoken?.cancelled === false;
    },
    /** Cancels the current announcement, if it is this text. */
    retract: (text: string): void => {
      if (current?.isAnnouncement && current.sections[0]?.text === text) voxledger.cancel();
    },
    /** True if anything is spoken, loaded or paused. */
    get isBusy(): boolean {
      return current !== undefined;
    },
    stop: (): void => {
      if (current) voxledger.cancel();
    },
  };
};

/** An earlier library, which a cache may have kept for an hour, speaks texts alone. */
const forLibrary = (voxledger: Partial<Voxledger>, sections: readonly TextSection[]) =>
  voxledger.prepare ? sections : sections.map(({ text }) => text).join("\n\n");

/** True if the browser lets the page play audio without a question. */
export const mayPlay = (): boolean => navigator.userActivation?.hasBeenActive ?? true;
