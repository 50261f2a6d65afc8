import type { AskToSpeak } from "./allow-speech.ts";
import type { AudioElement, MediaSourceConstructor } from "./dom.ts";
import { VoxledgerError } from "./errors.ts";
import type { Player } from "./player.ts";
import { soundSource } from "./sound-source.ts";

/**
 * Plays through an audio element; one for all sounds, because what a user once allowed an element stays allowed. When
 * the browser refuses to sound before the user did something, the user is asked, and then the sound begins. A sound that
 * is still coming is heard from its beginning while it comes, where the browser can do that.
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
  let asking = false;

  return {
    play: async (delivery, { prosody, signal, onStart }) => {
      paused = false;
      const source = await soundSource(delivery, audio, MediaSource);
      if (!source) return signal.aborted ? undefined : onStart();
      const over = new AbortController();
      try {
        if (signal.aborted) return;
        audio.src = source.url;
        // The element forgets its rate with every new source.
        audio.playbackRate = prosody.playbackRate;
        audio.volume = prosody.volume;
        await new Promise<void>((resolve, reject) => {
          const begin = (): void => void beginning().catch(reject);
          const beginning = async (): Promise<void> => {
            if (asking || (await plays(audio))) return;
            asking = true;
            await askToSpeak(signal);
            asking = false;
            if (signal.aborted) return;
            onAllowed();
            if (!paused && !(await plays(audio))) throw notAllowed();
          };
          const options = { once: true, signal: over.signal };
          audio.addEventListener("playing", onStart, options);
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

const notAllowed = (): VoxledgerError =>
  new VoxledgerError("The browser does not let the page sound.", { code: "NOT_ALLOWED" });

const unplayable = (message = "unknown reason", cause?: unknown): VoxledgerError =>
  new VoxledgerError(`The audio could not be played: ${message}`, { code: "PLAYBACK_FAILED", cause });
