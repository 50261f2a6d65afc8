import type { TextPart } from "./text-parts.ts";
import type { EngineCode } from "./voices/voices.ts";

/** What speaks: one of the service's engines, or the browser itself. */
export type Speaking = EngineCode | "native";

/**
 * The kinds of events, when each is fired, and what it carries beside `type` and `timestamp`.
 *
 * | Kind | Fired |
 * |---|---|
 * | `OnLoad` | once, when the library has been made and whoever made it had time to listen |
 * | `OnReady` | once, when the service has let the page in and told its configuration |
 * | `OnVoiceResolved` | for each speech, before it starts: the voice is found, by the browser or by the service; again after a switch |
 * | `OnServiceSwitched` | a speech goes on by something else than what was preferred, or spoke last; with `preferNative` |
 * | `OnStart` | for each speech, once: its first sound is heard |
 * | `OnPartStart`, `OnPartEnd` | a part of the text begins to be heard, was heard to its end |
 * | `OnPause`, `OnResume` | the speech was halted, goes on; asked twice, told once |
 * | `OnEnd` | for each `OnStart`, once, unless the speech failed: it is over, spoken to its end or cancelled |
 * | `OnError` | a speech failed, or the service did not let the page in; each error once |
 * | `OnClickEvent` | once: the first click on the page, from which on browsers let it sound |
 * | `OnAllowSpeechClicked` | the browser had refused to sound, and the user has allowed it |
 */
export interface EventPayloads {
  readonly OnLoad: object;
  readonly OnReady: object;
  readonly OnStart: object;
  readonly OnEnd: { readonly cancelled: boolean };
  readonly OnError: { readonly message: string; readonly code?: string };
  readonly OnPause: object;
  readonly OnResume: object;
  readonly OnServiceSwitched: { readonly from: Speaking; readonly to: Speaking };
  readonly OnClickEvent: object;
  readonly OnAllowSpeechClicked: object;
  readonly OnPartStart: TextPart;
  readonly OnPartEnd: TextPart;
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

export interface Events {
  /** Answers with the function that ends the listening. */
  on<Kind extends EventKind>(kind: Kind, listener: Listener<Kind>): () => void;
  emit<Kind extends EventKind>(kind: Kind, payload: EventPayloads[Kind]): void;
}

export const createEvents = (now: () => number): Events => {
  const listeners = new Map<EventKind, Set<(event: never) => void>>();
  return {
    on: (kind, listener) => {
      const listening = listeners.get(kind) ?? new Set();
      listeners.set(kind, listening.add(listener));
      return () => void listening.delete(listener);
    },
    emit: (kind, payload) => {
      const event = { ...payload, type: kind, timestamp: now() };
      for (const listener of [...(listeners.get(kind) ?? [])]) callSafely(() => listener(event as never));
    },
  };
};

/** Calls what belongs to the caller: its failure is told as uncaught, and speech goes on. */
export const callSafely = (call: () => void): void => {
  try {
    call();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
};
