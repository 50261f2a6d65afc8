import type { AudioElement, MediaSourceConstructor, StartTimer } from "../dom.ts";
import { VoxledgerError } from "../errors.ts";
import type { Delivery } from "../transport/transport.ts";
import { followBoundaries } from "./boundaries.ts";
import { feedMediaSource } from "./media-source-feed.ts";
import { type Playback, type PlaybackPosition, type Player, readBlob } from "./player.ts";

interface AudioElementPlayerOptions {
  readonly audio: AudioElement;
  readonly MediaSource: MediaSourceConstructor | undefined;
  readonly askToSpeak: (signal: AbortSignal) => Promise<void>;
  readonly onAllowed: () => void;
  readonly startTimer: StartTimer;
}

/**
 * Plays through one audio element: an element that has once played during a user gesture may play
 * again at any time. If the browser blocks playback, the user is asked first. Streams are played
 * while they are received, where the browser supports it.
 */
export class AudioElementPlayer implements Player {
  readonly #options: AudioElementPlayerOptions;
  /** Starts the part that is being played. */
  #start: (() => void) | undefined;
  /** The rate of the part that is being played, at normal speed. */
  #rate: number | undefined;
  #speed = 1;
  #isPaused = false;
  #isUnlocked = false;

  constructor(options: AudioElementPlayerOptions) {
    this.#options = options;
  }

  async play(delivery: Delivery, playback: Playback): Promise<void> {
    const { audio, MediaSource } = this.#options;
    const { prosody, signal, startTime, onStart } = playback;
    this.#isPaused = false;
    const source = await createAudioSource(delivery, audio, MediaSource);
    if (!source) return signal.aborted ? undefined : onStart();
    const finished = new AbortController();
    try {
      if (signal.aborted) return;
      audio.src = source.url;
      audio.playbackRate = prosody.playbackRate * this.#speed; // each new source resets it
      audio.volume = prosody.volume;
      if (startTime && !source.isStream) setStart(audio, startTime, finished.signal);
      this.#rate = prosody.playbackRate;
      await this.#playToEnd(source, playback, finished.signal);
    } finally {
      finished.abort();
      this.#start = undefined;
      this.#rate = undefined;
      audio.pause();
      audio.removeAttribute("src");
      URL.revokeObjectURL(source.url);
    }
  }

  pause(): void {
    this.#isPaused = true;
    this.#options.audio.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#start?.();
  }

  setSpeed(speed: number): void {
    this.#options.audio.playbackRate *= speed / this.#speed;
    this.#speed = speed;
  }

  get position(): PlaybackPosition | undefined {
    const { currentTime, duration } = this.#options.audio;
    if (this.#rate === undefined) return undefined;
    return {
      seconds: currentTime / this.#rate,
      duration: Number.isFinite(duration) ? duration / this.#rate : undefined,
    };
  }

  /** Plays silence in the current call stack, which may be a user gesture. */
  unlock(): void {
    if (this.#isUnlocked) return;
    const { audio } = this.#options;
    const url = URL.createObjectURL(silence());
    audio.src = url;
    audio
      .play()
      .then(() => {
        this.#isUnlocked = true;
        if (audio.src === url) audio.pause(); // before `ended`, which the page may listen to
      })
      .catch(() => {}) // not a user gesture, or already replaced by a speech
      .finally(() => URL.revokeObjectURL(url));
  }

  /**
   * Resolves at the end of the audio, or when the signal is aborted. `finished` removes the
   * listeners.
   */
  #playToEnd(source: AudioSource, playback: Playback, finished: AbortSignal): Promise<void> {
    const { signal, onStart } = playback;
    const { audio } = this.#options;
    const startOrAsk = this.#createStart(signal);
    const onPlaying = (): void => {
      this.#isUnlocked = true;
      onStart();
      void this.#followBoundaries(playback, finished);
    };
    return new Promise((resolve, reject) => {
      const options = { once: true, signal: finished };
      audio.addEventListener("playing", onPlaying, options);
      audio.addEventListener("ended", resolve, options);
      audio.addEventListener("error", () => reject(playbackFailed(audio.error?.message)), options);
      signal.addEventListener("abort", () => resolve(), options);
      this.#start = () => void startOrAsk().catch(reject);
      if (!this.#isPaused) this.#start();
      source.feed(finished).catch((error) => reject(asPlaybackError(error)));
    });
  }

  async #followBoundaries({ boundaries, onBoundary }: Playback, signal: AbortSignal): Promise<void> {
    const { audio, startTimer } = this.#options;
    const known = await boundaries;
    if (known && onBoundary) followBoundaries(audio, known, onBoundary, { startTimer, signal });
  }

  /**
   * Returns a function that starts the element, or asks the user first. It has no effect while the
   * user is asked.
   */
  #createStart(signal: AbortSignal): () => Promise<void> {
    const { audio, askToSpeak, onAllowed } = this.#options;
    let isAsking = false;
    return async () => {
      if (isAsking || (await tryPlay(audio))) return;
      isAsking = true;
      await askToSpeak(signal).catch((cause) => {
        throw notAllowed(cause);
      });
      isAsking = false;
      if (signal.aborted) return;
      onAllowed();
      if (!this.#isPaused && !(await tryPlay(audio))) throw notAllowed();
    };
  }
}

/** Moves to the start when the duration is known, before anything is played. */
const setStart = (audio: AudioElement, startTime: (duration: number) => number, signal: AbortSignal): void =>
  audio.addEventListener(
    "loadedmetadata",
    () => {
      audio.currentTime = startTime(audio.duration);
    },
    { once: true, signal },
  );

/**
 * Returns false if the browser requires a user gesture first.
 * @throws {VoxledgerError}
 */
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

/**
 * The header of a WAV file: PCM, one channel, 8,000 samples of 8 bits per second, 4,000 samples.
 */
const silenceHeader = "UklGRsQPAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YaAPAAA=";

/** Half a second of silence. */
const silence = (): Blob => {
  const header = Uint8Array.from(atob(silenceHeader), (character) => character.charCodeAt(0));
  return new Blob([header, new Uint8Array(4_000).fill(0x80)], { type: "audio/wav" });
};

/** A source for an audio element. */
interface AudioSource {
  readonly url: string;
  /** A stream has no duration, and can only be played from its beginning. */
  readonly isStream: boolean;
  /**
   * Appends the chunks of a stream. Call it after the element has been given the URL.
   * @throws {VoxledgerError}
   */
  feed(signal: AbortSignal): Promise<void>;
}

/**
 * Resolves at once for a stream whose format the browser's Media Source supports (Chromium: mp3,
 * but neither ogg nor wav), or else when all of the audio has been received. Undefined for silence.
 */
const createAudioSource = async (
  { audio: chunks, contentType, whole }: Delivery,
  audio: AudioElement,
  MediaSource: MediaSourceConstructor | undefined,
): Promise<AudioSource | undefined> => {
  if (whole || !MediaSource?.isTypeSupported(contentType)) {
    const blob = await readBlob(chunks, contentType);
    return blob.size === 0
      ? undefined
      : { url: URL.createObjectURL(blob), isStream: false, feed: async () => {} };
  }
  const source = new MediaSource();
  audio.disableRemotePlayback = true; // a ManagedMediaSource does not open otherwise
  return {
    // Node's types allow blobs only.
    url: URL.createObjectURL(source as unknown as Blob),
    isStream: true,
    feed: (signal) => feedMediaSource(source, audio, { contentType, chunks }, signal),
  };
};
