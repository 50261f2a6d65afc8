import { asVoxledgerError, VoxledgerError } from "./errors.ts";
import { callSafely, type EventPayloads, type Events } from "./events.ts";
import type { PreparedPart, SpeechBackend } from "./playback/speech-backend.ts";
import { type TextPart, textParts } from "./text-parts.ts";
import type { VoiceRequest } from "./transport/transport.ts";

export interface SpeakParams {
  readonly voice?: string;
  /** BCP-47; selects a voice if none is named. */
  readonly lang?: string;
  /** 0 to 2, 1 is normal. */
  readonly pitch?: number;
  /** 0 to 2, 1 is normal. */
  readonly rate?: number;
  /** 0 to 1. */
  readonly volume?: number;
  /** Whether the player applies rate and volume that the service could not apply. Default: true. */
  readonly prosodyFallback?: boolean;
  readonly onstart?: () => void;
  readonly onend?: (end: EventPayloads["OnEnd"]) => void;
  readonly onerror?: (error: VoxledgerError) => void;
  /** Native voices only. `charIndex` is an offset into the text. */
  readonly onboundary?: (charIndex: number, name: "word" | "sentence") => void;
}

/** The result of a speech that did not fail. */
export interface SpeechResult {
  readonly cancelled: boolean;
}

/** The voice, and the backends that can speak it. If one fails, the next one continues with the same part. */
export interface VoiceSelection {
  readonly voice: VoiceRequest;
  readonly backends: readonly SpeechBackend[];
}

export interface SpeechContext {
  readonly events: Events;
  selectVoice(params: SpeakParams): Promise<VoiceSelection>;
  /** Called before a backend starts to speak. */
  onBackendStart(backend: SpeechBackend, voice: VoiceRequest): Promise<void>;
  /** Fires `OnError`, once per error. */
  reportError(error: VoxledgerError): void;
}

/** One call of `speak`. */
export interface Speech {
  /** A rejection need not be handled. @throws {VoxledgerError} */
  readonly finished: Promise<SpeechResult>;
  pause(): void;
  resume(): void;
  cancel(): void;
}

export const startSpeech = (text: string, params: SpeakParams, context: SpeechContext): Speech => {
  const { events } = context;
  const abort = new AbortController();
  const { signal } = abort;
  const cancelled = Promise.withResolvers<SpeechResult>();
  let paused: PromiseWithResolvers<void> | undefined;
  let backend: SpeechBackend | undefined;
  let state: "loading" | "audible" | "finished" = "loading";

  const onStart = (): void => {
    if (state !== "loading") return;
    state = "audible";
    events.emit("OnStart", {});
    callSafely(() => params.onstart?.());
  };

  const finish = (result: SpeechResult): SpeechResult => {
    if (state === "audible") {
      events.emit("OnEnd", result);
      callSafely(() => params.onend?.(result));
    }
    state = "finished";
    return result;
  };

  const playPart = async ({ part, play }: PreparedPart): Promise<void> => {
    while (paused) await paused.promise;
    if (signal.aborted) return;
    await play({
      signal,
      onStart: () => {
        if (signal.aborted) return;
        onStart();
        events.emit("OnPartStart", part);
      },
      onBoundary: (charIndex, name) =>
        callSafely(() => params.onboundary?.(part.charIndex + charIndex, name)),
    });
    if (!signal.aborted) events.emit("OnPartEnd", part);
  };

  /** Returns the parts that the backend failed to speak, and why. */
  const speakWith = async (
    current: SpeechBackend,
    voice: VoiceRequest,
    parts: readonly TextPart[],
  ): Promise<RemainingParts> => {
    backend = current;
    await context.onBackendStart(current, voice);
    let spoken = 0;
    try {
      for await (const prepared of current.prepare(parts, signal)) {
        if (spoken === 0)
          events.emit("OnVoiceResolved", { voice: voice.voice, lang: voice.lang, native: current.native });
        await playPart(prepared);
        if (signal.aborted) break;
        spoken++;
      }
      return { parts: [] };
    } catch (error) {
      return { parts: parts.slice(spoken), failure: asVoxledgerError(error) };
    }
  };

  const speak = async (): Promise<SpeechResult> => {
    const { voice, backends } = await context.selectVoice(params);
    let remaining: RemainingParts = { parts: textParts(text, voice.lang) };
    if (remaining.parts.length === 0) {
      throw new VoxledgerError("The text is empty.", { code: "VALIDATION_ERROR" });
    }
    for (const each of backends) {
      if (signal.aborted) break;
      remaining = await speakWith(each, voice, remaining.parts);
      if (remaining.parts.length === 0) break;
    }
    if (remaining.failure) throw remaining.failure;
    return finish({ cancelled: signal.aborted });
  };

  const fail = (error: unknown): never => {
    const failure = asVoxledgerError(error);
    state = "finished";
    context.reportError(failure);
    callSafely(() => params.onerror?.(failure));
    throw failure;
  };

  const finished = Promise.race([
    speak().catch((error) => (signal.aborted ? { cancelled: true } : fail(error))),
    cancelled.promise,
  ]);
  finished.catch(() => {}); // reported by OnError and onerror: callers that listen to those need not await

  const unpause = (): void => {
    paused?.resolve();
    paused = undefined;
  };
  return {
    finished,
    pause: () => {
      if (paused || state === "finished") return;
      paused = Promise.withResolvers();
      backend?.pause();
      events.emit("OnPause", {});
    },
    resume: () => {
      if (!paused || state === "finished") return;
      backend?.resume();
      unpause();
      events.emit("OnResume", {});
    },
    cancel: () => {
      if (state === "finished") return;
      abort.abort();
      unpause();
      cancelled.resolve(finish({ cancelled: true }));
    },
  };
};

interface RemainingParts {
  readonly parts: readonly TextPart[];
  readonly failure?: VoxledgerError;
}
