import { isSsml } from "../../domain/text/is-ssml.ts";
import type { NativeSpeech, NativeVoice, StartTimer } from "../dom.ts";
import { VoxledgerError } from "../errors.ts";
import type { PartPlayback, SpeechBackend, SpokenPart } from "./speech-backend.ts";

/** Browsers ignore other rates. */
const minRate = 0.1;
const maxRate = 10;

/** Engines that hang report nothing. Those that send the text to their maker may take seconds. */
const maxSilenceMs = 10_000;
/** The longest time of a character at normal speed. A digit or an ideograph takes 0.3 seconds. */
const maxCharacterMs = 500;

/** Speaks with one of the browser's voices. `speed` multiplies the rate of each part. */
export const nativeBackend = (
  { synthesis, utterance }: NativeSpeech,
  voice: NativeVoice,
  { speed, startTimer }: { speed: () => number; startTimer: StartTimer },
): SpeechBackend => {
  /** Waits for the next event of the part. Ends the part if there is none in time. */
  let awaitEvent = (): void => {};
  let stopTimer = (): void => {};
  /** Engines may report a word that they have spoken before the pause. */
  let isPaused = false;
  const speak = (
    { part: { text, startAt = 0 }, voice: { prosody } }: SpokenPart,
    { signal, onStart, onBoundary }: PartPlayback,
  ): Promise<void> =>
    new Promise((resolve, reject) => {
      const plain = isSsml(text) ? withoutMarkup(text) : text.slice(startAt);
      const spoken = utterance(plain);
      spoken.voice = voice;
      spoken.lang = voice.lang;
      spoken.pitch = prosody.pitch;
      spoken.rate = Math.min(Math.max(prosody.rate * speed(), minRate), maxRate);
      spoken.volume = prosody.volume;
      let hasStarted = false;
      let charIndex = 0;
      awaitEvent = (): void => {
        const restMs = hasStarted
          ? ((plain.length - charIndex) * maxCharacterMs) / Math.min(spoken.rate, 1)
          : 0;
        stopTimer();
        if (isPaused) return;
        stopTimer = startTimer(maxSilenceMs + restMs, () => {
          end(() => reject(speechError("it reports nothing")))();
          synthesis.cancel(); // the engine would speak it at some later time
        });
      };
      spoken.onstart = () => {
        hasStarted = true;
        awaitEvent();
        onStart();
      };
      spoken.onboundary = (event) => {
        charIndex = event.charIndex;
        awaitEvent();
        const { charLength = 0, elapsedTime = 0, name } = event;
        if (name === "word" || name === "sentence")
          onBoundary?.({ charIndex: startAt + charIndex, charLength, elapsedTime, name });
      };
      const stopWaiting = (): void => {
        stopTimer();
        awaitEvent = () => {};
      };
      const cancel = (): void => {
        stopWaiting();
        isPaused = false;
        synthesis.cancel();
        synthesis.resume(); // `cancel` does not unpause: the next utterance would wait
        resolve();
      };
      const end = (settle: () => void) => (): void => {
        stopWaiting();
        signal.removeEventListener("abort", cancel);
        settle();
      };
      spoken.onend = end(resolve);
      spoken.onerror = ({ error }) => end(() => (signal.aborted ? resolve() : reject(speechError(error))))();
      signal.addEventListener("abort", cancel, { once: true });
      synthesis.speak(spoken);
      awaitEvent();
    });

  return {
    native: true,
    async *prepare(parts) {
      for (const spoken of parts) yield { ...spoken, play: (playback) => speak(spoken, playback) };
    },
    pause: () => {
      isPaused = true;
      stopTimer();
      synthesis.pause();
    },
    resume: () => {
      isPaused = false;
      synthesis.resume();
      awaitEvent();
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
