import type { NativeSpeech, NativeVoice } from "../dom.ts";
import { VoxledgerError } from "../errors.ts";
import type { Prosody } from "../prosody.ts";
import type { TextPart } from "../text-parts.ts";
import type { PartPlayback, SpeechBackend } from "./speech-backend.ts";

/** Browsers ignore a lower rate. */
const minRate = 0.1;

/** Speaks with one of the browser's voices. */
export const nativeBackend = (
  { synthesis, utterance }: NativeSpeech,
  voice: NativeVoice,
  prosody: Prosody,
): SpeechBackend => {
  const speak = (
    { text, startAt = 0 }: TextPart,
    { signal, onStart, onBoundary }: PartPlayback,
  ): Promise<void> =>
    new Promise((resolve, reject) => {
      const spoken = utterance(text.slice(startAt));
      spoken.voice = voice;
      spoken.lang = voice.lang;
      spoken.pitch = prosody.pitch;
      spoken.rate = Math.max(prosody.rate, minRate);
      spoken.volume = prosody.volume;
      spoken.onstart = onStart;
      spoken.onboundary = ({ charIndex, charLength = 0, elapsedTime = 0, name }) => {
        if (name === "word" || name === "sentence")
          onBoundary?.({ charIndex: startAt + charIndex, charLength, elapsedTime, name });
      };
      spoken.onend = () => resolve();
      spoken.onerror = ({ error }) => (signal.aborted ? resolve() : reject(speechError(error)));
      const cancel = (): void => {
        synthesis.cancel();
        synthesis.resume(); // `cancel` does not unpause: the next utterance would wait
        resolve();
      };
      signal.addEventListener("abort", cancel, { once: true });
      synthesis.speak(spoken);
    });

  return {
    native: true,
    async *prepare(parts) {
      for (const part of parts) yield { part, play: (playback) => speak(part, playback) };
    },
    pause: () => synthesis.pause(),
    resume: () => synthesis.resume(),
  };
};

const speechError = (reason: string): VoxledgerError =>
  new VoxledgerError(`The browser's speech synthesis failed: ${reason}`, {
    code: reason === "not-allowed" ? "NOT_ALLOWED" : "PLAYBACK_FAILED",
  });
