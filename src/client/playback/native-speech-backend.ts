import { isSsml } from "../../domain/text/is-ssml.ts";
import type { NativeSpeech, NativeVoice } from "../dom.ts";
import { VoxledgerError } from "../errors.ts";
import type { PartPlayback, SpeechBackend, SpokenPart } from "./speech-backend.ts";

/** Browsers ignore other rates. */
const minRate = 0.1;
const maxRate = 10;

/** Speaks with one of the browser's voices. `speed` multiplies the rate of each part. */
export const nativeBackend = (
  { synthesis, utterance }: NativeSpeech,
  voice: NativeVoice,
  speed: () => number,
): SpeechBackend => {
  const speak = (
    { part: { text, startAt = 0 }, voice: { prosody } }: SpokenPart,
    { signal, onStart, onBoundary }: PartPlayback,
  ): Promise<void> =>
    new Promise((resolve, reject) => {
      const spoken = utterance(isSsml(text) ? withoutMarkup(text) : text.slice(startAt));
      spoken.voice = voice;
      spoken.lang = voice.lang;
      spoken.pitch = prosody.pitch;
      spoken.rate = Math.min(Math.max(prosody.rate * speed(), minRate), maxRate);
      spoken.volume = prosody.volume;
      spoken.onstart = onStart;
      spoken.onboundary = ({ charIndex, charLength = 0, elapsedTime = 0, name }) => {
        if (name === "word" || name === "sentence")
          onBoundary?.({ charIndex: startAt + charIndex, charLength, elapsedTime, name });
      };
      const cancel = (): void => {
        synthesis.cancel();
        synthesis.resume(); // `cancel` does not unpause: the next utterance would wait
        resolve();
      };
      const end = (settle: () => void) => (): void => {
        signal.removeEventListener("abort", cancel);
        settle();
      };
      spoken.onend = end(resolve);
      spoken.onerror = ({ error }) => end(() => (signal.aborted ? resolve() : reject(speechError(error))))();
      signal.addEventListener("abort", cancel, { once: true });
      synthesis.speak(spoken);
    });

  return {
    native: true,
    async *prepare(parts) {
      for (const spoken of parts) yield { ...spoken, play: (playback) => speak(spoken, playback) };
    },
    pause: () => synthesis.pause(),
    resume: () => synthesis.resume(),
  };
};

const entities: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&apos;": "'",
};

/** Browsers read SSML as it is written. Every word keeps its offset. */
const withoutMarkup = (ssml: string): string =>
  ssml.replace(/<[^>]*>|&\w+;/g, (markup) => (entities[markup] ?? "").padEnd(markup.length));

const speechError = (reason: string): VoxledgerError =>
  new VoxledgerError(`The browser's speech synthesis failed: ${reason}`, {
    code: reason === "not-allowed" ? "NOT_ALLOWED" : "PLAYBACK_FAILED",
  });
