import type { AudioElement, MediaSourceConstructor } from "../dom.ts";
import { VoxledgerError } from "../errors.ts";
import type { AskToSpeak } from "./allow-speech.ts";
import { createAudioSource } from "./audio-source.ts";
import type { Player } from "./player.ts";
import { silence } from "./silence.ts";

/**
 * Plays through an audio element; one for all sounds, because an element that has once played in a user's gesture may
 * play again at any time. If the browser refuses to play, the user is asked, and then the sound begins. A sound that is
 * still coming is heard from its beginning while it comes, where the browser can do that.
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
  let playing: { begin(): void } | undefined;
  let paused = false;
  let isUnlocked = false;

  /** Plays silence in the current call stack, which is the user's gesture if there is one. */
  const unlock = (): void => {
    if (isUnlocked) return;
    const url = URL.createObjectURL(silence());
    audio.src = url;
    audio
      .play()
      .then(() => {
        isUnlocked = true;
        if (audio.src === url) audio.pause(); // before its end, which listeners of the page would hear of
      })
      .catch(() => {}) // no gesture, or replaced by a sound already
      .finally(() => URL.revokeObjectURL(url));
  };

  return {
    play: async (delivery, { prosody, signal, onStart }) => {
      paused = false;
      const source = await createAudioSource(delivery, audio, MediaSource);
      if (!source) return signal.aborted ? undefined : onStart();
      const over = new AbortController();
      try {
        if (signal.aborted) return;
        audio.src = source.url;
        // The element forgets its rate with every new source.
        audio.playbackRate = prosody.playbackRate;
        audio.volume = prosody.volume;
        let asking = false;
        await new Promise<void>((resolve, reject) => {
          const begin = (): void => void beginning().catch(reject);
          const beginning = async (): Promise<void> => {
            if (asking || (await plays(audio))) return;
            asking = true;
            await askToSpeak(signal).catch((cause) => {
              throw notAllowed(cause);
            });
            asking = false;
            if (signal.aborted) return;
            onAllowed();
            if (!paused && !(await plays(audio))) throw notAllowed();
          };
          const started = (): void => {
            isUnlocked = true;
            onStart();
          };
          const options = { once: true, signal: over.signal };
          audio.addEventListener("playing", started, options);
          audio.addEventListener("ended", resolve, options);
          audio.addEventListener("error", () => reject(unplayable(audio.error?.message)), options);
          signal.addEventListener("abort", () => resolve(), options);
          playing = { begin };
          if (!paused) begin();
          source.feed(over.signal).catch((error) => reject(asPlaybackError(error)));
        });
      } finally {
        over.abort();
        playing = undefined;
        audio.pause();
        audio.removeAttribute("src");
        URL.revokeObjectURL(source.url);
      }
    },
    pause: () => {
      paused = true;
      audio.pause();
    },
    resume: () => {
      paused = false;
      playing?.begin();
    },
    unlock,
  };
};

/** Whether it begins; false when the browser wants the user to do something first. @throws {VoxledgerError} */
const plays = async (audio: AudioElement): Promise<boolean> => {
  try {
    await audio.play();
    return true;
  } catch (error) {
    const { name, message } = error as Error;
    if (name === "NotAllowedError") return false;
    if (name === "AbortError") return true; // paused or replaced before it began
    throw unplayable(message, error);
  }
};

/** What broke off under way is told as what it is. */
const asPlaybackError = (error: unknown): VoxledgerError =>
  error instanceof VoxledgerError ? error : unplayable((error as Error).message, error);

const notAllowed = (cause?: unknown): VoxledgerError =>
  new VoxledgerError("The browser does not let the page sound.", { code: "NOT_ALLOWED", cause });

const unplayable = (message = "unknown reason", cause?: unknown): VoxledgerError =>
  new VoxledgerError(`The audio could not be played: ${message}`, { code: "PLAYBACK_FAILED", cause });
