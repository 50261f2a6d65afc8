import type { AudioElement, MediaSourceConstructor } from "../dom.ts";
import { VoxledgerError } from "../errors.ts";
import type { AskToSpeak } from "./allow-speech.ts";
import { createAudioSource } from "./audio-source.ts";
import type { Player } from "./player.ts";

/**
 * Plays through one audio element: an element that has once played during a user gesture may play again at any time. If
 * the browser blocks playback, the user is asked first. Streams are played while they are received, where the browser
 * supports it.
 */
export const audioElementPlayer = ({
  audio,
  MediaSource,
  askToSpeak,
  onAllowed,
}: {
  audio: AudioElement;
  MediaSource: MediaSourceConstructor | undefined;
  askToSpeak: AskToSpeak;
  onAllowed: () => void;
}): Player => {
  let current: { start(): void } | undefined;
  let isPaused = false;
  let isUnlocked = false;

  /** Plays silence in the current call stack, which may be a user gesture. */
  const unlock = (): void => {
    if (isUnlocked) return;
    const url = URL.createObjectURL(silence());
    audio.src = url;
    audio
      .play()
      .then(() => {
        isUnlocked = true;
        if (audio.src === url) audio.pause(); // before `ended`, which the page may listen to
      })
      .catch(() => {}) // not a user gesture, or already replaced by a speech
      .finally(() => URL.revokeObjectURL(url));
  };

  return {
    play: async (delivery, { prosody, signal, onStart }) => {
      isPaused = false;
      const source = await createAudioSource(delivery, audio, MediaSource);
      if (!source) return signal.aborted ? undefined : onStart();
      const finished = new AbortController();
      try {
        if (signal.aborted) return;
        audio.src = source.url;
        audio.playbackRate = prosody.playbackRate; // each new source resets it
        audio.volume = prosody.volume;
        await new Promise<void>((resolve, reject) => {
          let isAsking = false;
          const startOrAsk = async (): Promise<void> => {
            if (isAsking || (await tryPlay(audio))) return;
            isAsking = true;
            await askToSpeak(signal).catch((cause) => {
              throw notAllowed(cause);
            });
            isAsking = false;
            if (signal.aborted) return;
            onAllowed();
            if (!isPaused && !(await tryPlay(audio))) throw notAllowed();
          };
          const start = (): void => void startOrAsk().catch(reject);
          const onPlaying = (): void => {
            isUnlocked = true;
            onStart();
          };
          const options = { once: true, signal: finished.signal };
          audio.addEventListener("playing", onPlaying, options);
          audio.addEventListener("ended", resolve, options);
          audio.addEventListener("error", () => reject(playbackFailed(audio.error?.message)), options);
          signal.addEventListener("abort", () => resolve(), options);
          current = { start };
          if (!isPaused) start();
          source.feed(finished.signal).catch((error) => reject(asPlaybackError(error)));
        });
      } finally {
        finished.abort();
        current = undefined;
        audio.pause();
        audio.removeAttribute("src");
        URL.revokeObjectURL(source.url);
      }
    },
    pause: () => {
      isPaused = true;
      audio.pause();
    },
    resume: () => {
      isPaused = false;
      current?.start();
    },
    unlock,
  };
};

/** Returns false if the browser requires a user gesture first. @throws {VoxledgerError} */
const tryPlay = async (audio: AudioElement): Promise<boolean> => {
  try {
    await audio.play();
    return true;
  } catch (error) {
    const { name, message } = error as Error;
    if (name === "NotAllowedError") return false;
    if (name === "AbortError") return true; // paused or replaced before it started
    throw playbackFailed(message, error);
  }
};

const asPlaybackError = (error: unknown): VoxledgerError =>
  error instanceof VoxledgerError ? error : playbackFailed((error as Error).message, error);

const notAllowed = (cause?: unknown): VoxledgerError =>
  new VoxledgerError("The browser does not allow the page to play audio.", { code: "NOT_ALLOWED", cause });

const playbackFailed = (message = "unknown reason", cause?: unknown): VoxledgerError =>
  new VoxledgerError(`The audio could not be played: ${message}`, { code: "PLAYBACK_FAILED", cause });

/** The header of a WAV file: PCM, one channel, 8,000 samples of 8 bits per second, 4,000 samples. */
const silenceHeader = "UklGRsQPAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YaAPAAA=";

/** Half a second of silence. */
const silence = (): Blob => {
  const header = Uint8Array.from(atob(silenceHeader), (character) => character.charCodeAt(0));
  return new Blob([header, new Uint8Array(4_000).fill(0x80)], { type: "audio/wav" });
};
