import type { EngineCode } from "./api/voices.ts";
import type { TextPart } from "./text-parts.ts";

/**
 * One of the service's engines, or the browser's own speech synthesis. Without `preferNative` all
 * engines are reported as `service`.
 */
export type SpeechService = EngineCode | "service" | "native";

/** The events, and their members besides `type` and `timestamp`. */
export interface EventPayloads {
  /** Fired once, in a microtask after the constructor. */
  readonly OnLoad: object;
  /** Fired once, when the service has accepted the page and sent its configuration. */
  readonly OnReady: object;
  /** Fired once per speech, at its first audible sound. */
  readonly OnStart: object;
  /**
   * Fired once per `OnStart`, when the speech was played to its end or cancelled. Not fired after
   * an error.
   */
  readonly OnEnd: { readonly cancelled: boolean };
  /** Fired once per error: a speech failed, or the service refused the page. */
  readonly OnError: { readonly message: string; readonly code?: string };
  readonly OnPause: object;
  readonly OnResume: object;
  /**
   * Fired when another speech service speaks than before: with `preferNative`, or because the
   * service failed. Then `reason` is its error, which is not also an `OnError`.
   */
  readonly OnServiceSwitched: {
    readonly from: SpeechService;
    readonly to: SpeechService;
    readonly reason?: { readonly message: string; readonly code: string | undefined };
  };
  /** Fired once, at the first click on the page, after which browsers allow audio. */
  readonly OnClickEvent: object;
  /** Fired when the user has allowed audio that the browser had blocked. */
  readonly OnAllowSpeechClicked: object;
  /** Fired when a part of the text becomes audible. */
  readonly OnPartStart: TextPart;
  /** Fired when a part of the text has been played to its end. */
  readonly OnPartEnd: TextPart;
  /** Fired before a speech starts, and before each part that another voice or service speaks. */
  readonly OnVoiceResolved: {
    readonly voice: string | undefined;
    readonly lang: string | undefined;
    readonly native: boolean;
  };
}

export type EventKind = keyof EventPayloads;

/** `timestamp` in milliseconds since the epoch. */
export type SpeechEvent<Kind extends EventKind = EventKind> = {
  readonly type: Kind;
  readonly timestamp: number;
} & EventPayloads[Kind];

export type Listener<Kind extends EventKind> = (event: SpeechEvent<Kind>) => void;

export type Events = ReturnType<typeof createEvents>;

export const createEvents = (now: () => number) => {
  const listeners = new Map<EventKind, Set<(event: never) => void>>();
  return {
    /** Returns a function that removes the listener. */
    on: <Kind extends EventKind>(kind: Kind, listener: Listener<Kind>): (() => void) => {
      const ofKind = listeners.get(kind) ?? new Set();
      listeners.set(kind, ofKind.add(listener));
      return () => void ofKind.delete(listener);
    },
    emit: <Kind extends EventKind>(kind: Kind, payload: EventPayloads[Kind]): void => {
      const event = { ...payload, type: kind, timestamp: now() };
      for (const listener of [...(listeners.get(kind) ?? [])]) callSafely(() => listener(event as never));
    },
  };
};

/** Calls the application's code. Its exception becomes an uncaught one, and speech continues. */
export const callSafely = (callback: () => void): void => {
  try {
    callback();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
};
