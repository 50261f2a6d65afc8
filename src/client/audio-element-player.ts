import type { AskToSpeak } from "./allow-speech.ts";
import type { AudioElement } from "./dom.ts";
import { VoxledgerError } from "./errors.ts";
import { gather, type Player } from "./player.ts";

/**
 * Plays through an audio element; one for all sounds, because what a user once allowed an element stays allowed. When
 * the browser refuses to sound before the user did something, the user is asked, and then the sound begins.
 */
export const audioElementPlayer = ({
  audio,
  askToSpeak,
  onAllowed,
}: {
  audio: AudioElement;
  askToSpeak: AskToSpeak;
  onAllowed: () => void;
}): Player => {
  let playing: { begin(): void } | undefined;
  let paused = false;
  let asking = false;

  return {
    play: async (delivery, { prosody, signal, onStart }) => {
      paused = false;
      const bytes = await gather(delivery.audio);
      if (signal.aborted) return;
      if (bytes.length === 0) return onStart();
      const url = URL.createObjectURL(new Blob([bytes], { type: delivery.contentType }));
      const over = new AbortController();
      try {
        audio.src = url;
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
        });
      } finally {
        over.abort();
        playing = undefined;
        audio.pause();
        audio.removeAttribute("src");
        URL.revokeObjectURL(url);
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

const notAllowed = (): VoxledgerError =>
  new VoxledgerError("The browser does not let the page sound.", { code: "NOT_ALLOWED" });

const unplayable = (message = "unknown reason", cause?: unknown): VoxledgerError =>
  new VoxledgerError(`The audio could not be played: ${message}`, { code: "PLAYBACK_FAILED", cause });
