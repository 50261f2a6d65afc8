import type {
  AudioElement,
  MediaSourceConstructor,
  Page,
  PageDocument,
  PageNavigator,
  SocketConstructor,
} from "./dom.ts";
import { type AskToSpeak, allowSpeechButton } from "./playback/allow-speech.ts";
import type { NativeSpeech } from "./playback/native-speech-backend.ts";
import type { Player, PlaySound } from "./playback/player.ts";
import { abortError } from "./transport/time-limit.ts";

/** What the library stands on. In a browser all of it is there; elsewhere a player has to be given to speak. */
export interface Environment {
  readonly fetch: typeof globalThis.fetch;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Rejects as soon as the signal is raised. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** 0 to 1. */
  readonly random: () => number;
  /** Takes the lines of `debug`. */
  readonly log: (line: string) => void;
  /** What makes sounds heard, or a function that is handed them. Default: the audio element. */
  readonly player?: Player | PlaySound;
  /** Default: an element of the library's own. */
  readonly audio?: AudioElement;
  /** What lets the audio element play a sound that is still coming; without it sounds are played when they are whole. */
  readonly MediaSource?: MediaSourceConstructor;
  /** What the transport `websocket` connects by. */
  readonly WebSocket?: SocketConstructor;
  /** Default: a button at the foot of the page. */
  readonly askToSpeak?: AskToSpeak;
  readonly nativeSpeech?: NativeSpeech;
  readonly navigator?: PageNavigator;
  readonly document?: PageDocument;
}

/** What is there where the script runs. */
export const defaultEnvironment = (): Environment => {
  const { document, navigator, speechSynthesis, SpeechSynthesisUtterance, Audio, WebSocket } =
    globalThis as Page;
  const { ManagedMediaSource, MediaSource = ManagedMediaSource } = globalThis as Page;
  return {
    fetch: (input, init) => globalThis.fetch(input, init),
    now: Date.now,
    sleep,
    random: Math.random,
    log: (line) => console.debug(line),
    ...(document && { document, askToSpeak: allowSpeechButton(document) }),
    ...(document && navigator && { navigator }),
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

const sleep = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal.aborted) return reject(abortError(signal.reason));
    const waited = setTimeout(() => {
      signal.removeEventListener("abort", left);
      resolve();
    }, milliseconds);
    const left = (): void => {
      clearTimeout(waited);
      reject(abortError(signal.reason));
    };
    signal.addEventListener("abort", left, { once: true });
  });
