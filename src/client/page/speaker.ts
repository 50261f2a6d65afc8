import type { SpeakParams, SpeechResult, Voxledger } from "../voxledger.ts";

export type Speaker = ReturnType<typeof createSpeaker>;

interface Current {
  readonly text: string;
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
      return await voxledger.speak(own.text, params);
    } finally {
      if (current === own) current = undefined;
    }
  };

  return {
    /**
     * Speaks a text at the user's request, and cancels the current speech.
     * @throws {VoxledgerError}
     */
    speak: (text: string, params?: SpeakParams, speed?: number): Promise<SpeechResult> =>
      speak({ text, isAnnouncement: false }, params, speed),
    /**
     * Speaks a text that the user has not asked for. Cancels earlier announcements, but never a
     * speech that the user has asked for. Resolves with true if the text was spoken.
     */
    announce: async (text: string): Promise<boolean> => {
      if (current && !current.isAnnouncement) return false;
      const own = { text: text.slice(0, maxAnnouncementLength), isAnnouncement: true };
      const spoken = await speak(own).catch(() => undefined); // OnError has reported it
      return spoken?.cancelled === false;
    },
    /** Cancels the current announcement, if it is this text. */
    retract: (text: string): void => {
      if (current?.isAnnouncement && current.text === text) voxledger.cancel();
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

/** True if the browser lets the page play audio without a question. */
export const mayPlay = (): boolean => navigator.userActivation?.hasBeenActive ?? true;
