import { isSsml } from "../../domain/text/is-ssml.ts";
import type { NativeSpeech, NativeVoice, StartTimer } from "../dom.ts";
import { VoxledgerError } from "../errors.ts";
import type { PartPlayback, SpeechBackend, SpokenPart } from "./speech-backend.ts";

/** Browsers ignore other rates. */
const minRate = 0.1;
const maxRate = 10;

/** Engines that hang report nothing. Those that send the text to their maker may take seconds. */
const maxStartMs = 10_000;

/** Speaks with one of the browser's voices. `speed` multiplies the rate of each part. */
export const nativeBackend = (
  { synthesis, utterance }: NativeSpeech,
  voice: NativeVoice,
  { speed, startTimer }: { speed: () => number; startTimer: StartTimer },
): SpeechBackend => {
  /** Ends a part that has not started in time, unless it is paused. */
  let awaitStart = (): void => {};
  let stopTimer = (): void => {};
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
      awaitStart = (): void => {
        stopTimer = startTimer(maxStartMs, () => {
          end(() => reject(speechError("it does not start")))();
          synthesis.cancel(); // the engine would speak it at some later time
        });
      };
      spoken.onstart = () => {
        started();
        onStart();
      };
      spoken.onboundary = ({ charIndex, charLength = 0, elapsedTime = 0, name }) => {
        if (name === "word" || name === "sentence")
          onBoundary?.({ charIndex: startAt + charIndex, charLength, elapsedTime, name });
      };
      const started = (): void => {
        stopTimer();
        awaitStart = () => {};
      };
      const cancel = (): void => {
        started();
        synthesis.cancel();
        synthesis.resume(); // `cancel` does not unpause: the next utterance would wait
        resolve();
      };
      const end = (settle: () => void) => (): void => {
        started();
        signal.removeEventListener("abort", cancel);
        settle();
      };
      spoken.onend = end(resolve);
      spoken.onerror = ({ error }) => end(() => (signal.aborted ? resolve() : reject(speechError(error))))();
      signal.addEventListener("abort", cancel, { once: true });
      synthesis.speak(spoken);
      awaitStart();
    });

  return {
    native: true,
    async *prepare(parts) {
      for (const spoken of parts) yield { ...spoken, play: (playback) => speak(spoken, playback) };
    },
    pause: () => {
      stopTimer();
      synthesis.pause();
    },
    resume: () => {
      synthesis.resume();
      awaitStart();
    },
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
