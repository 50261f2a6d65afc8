import type {
  AudioElement,
  MediaSourceConstructor,
  NativeSpeech,
  Page,
  PageDocument,
  PageNavigator,
  SocketConstructor,
  StartTimer,
} from "./dom.ts";
import { abortError } from "./errors.ts";
import { type AskToSpeak, allowSpeechButton } from "./playback/allow-speech.ts";
import type { Player, PlaySound } from "./playback/player.ts";

/** The library needs this from its environment. A browser has all of it; Node needs a `player`. */
export interface Environment {
  readonly fetch: typeof globalThis.fetch;
  readonly now: () => number;
  /** Rejects when the signal is aborted. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Used for the timeouts of requests. */
  readonly startTimer: StartTimer;
  /** A number from 0 to 1. */
  readonly random: () => number;
  /** Receives the lines of `debug`. */
  readonly log: (line: string) => void;
  /** Plays audio; a function is called with the audio of each part. Default: an audio element. */
  readonly player?: Player | PlaySound;
  /** Default: an element that the library creates. */
  readonly audio?: AudioElement;
  /**
   * Lets the audio element play a stream. Without it, audio is played when it has been received.
   */
  readonly MediaSource?: MediaSourceConstructor;
  /** Used by the transport `websocket`. */
  readonly WebSocket?: SocketConstructor;
  /** Default: a button at the bottom of the page. */
  readonly askToSpeak?: AskToSpeak;
  readonly nativeSpeech?: NativeSpeech;
  readonly navigator?: PageNavigator;
  readonly document?: PageDocument;
  /** Resolves when the browser has a network again; rejects when the signal is aborted. */
  readonly untilOnline?: (signal: AbortSignal) => Promise<void>;
}

/** The environment that the script runs in. */
export const defaultEnvironment = (): Environment => {
  const { document, navigator, speechSynthesis, SpeechSynthesisUtterance, Audio, WebSocket } =
    globalThis as Page;
  const { ManagedMediaSource, MediaSource = ManagedMediaSource } = globalThis as Page;
  return {
    fetch: (input, init) => globalThis.fetch(input, init),
    now: Date.now,
    sleep,
    startTimer,
    random: Math.random,
    log: (line) => console.debug(line),
    ...(document && { document, askToSpeak: allowSpeechButton(document) }),
    ...(document && navigator && { navigator }),
    untilOnline,
    ...(Audio && { audio: new Audio() }),
    ...(MediaSource && { MediaSource }),
    ...(WebSocket && { WebSocket }),
    ...(speechSynthesis &&
      SpeechSynthesisUtterance && {
        nativeSpeech: {
          synthesis: speechSynthesis,
          utterance: (text: string) => new SpeechSynthesisUtterance(text),
        },
      }),
  };
};

const startTimer: StartTimer = (milliseconds, onExpired) => {
  const timer = setTimeout(onExpired, milliseconds);
  return () => clearTimeout(timer);
};

const sleep = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal.aborted) return reject(abortError(signal.reason));
    const onAbort = (): void => {
      stopTimer();
      reject(abortError(signal.reason));
    };
    const stopTimer = startTimer(milliseconds, () => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    });
    signal.addEventListener("abort", onAbort, { once: true });
  });

const untilOnline = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal.aborted) return reject(abortError(signal.reason));
    const listening = new AbortController();
    const finish = (settle: () => void) => (): void => {
      listening.abort();
      settle();
    };
    const options = { signal: listening.signal };
    (globalThis as Page).addEventListener?.("online", finish(resolve), options);
    signal.addEventListener(
      "abort",
      finish(() => reject(abortError(signal.reason))),
      options,
    );
  });
