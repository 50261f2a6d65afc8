import { asVoxledgerError, VoxledgerError } from "./errors.ts";
import { callSafely, type EventPayloads, type Events } from "./events.ts";
import { createPauseGate } from "./playback/pause-gate.ts";
import type { PreparedPart, SpeechBackend } from "./playback/speech-backend.ts";
import { type TextPart, textParts } from "./text-parts.ts";
import type { VoiceRequest } from "./transport/transport.ts";

export interface SpeakParams {
  readonly voice?: string;
  /** BCP-47; chooses a voice when none is named. */
  readonly lang?: string;
  /** 0 to 2, 1 is normal. */
  readonly pitch?: number;
  /** 0 to 2, 1 is normal. */
  readonly rate?: number;
  /** 0 to 1. */
  readonly volume?: number;
  /** Whether the player applies rate and volume where the service could not. Default: true. */
  readonly prosodyFallback?: boolean;
  readonly onstart?: () => void;
  readonly onend?: (end: EventPayloads["OnEnd"]) => void;
  readonly onerror?: (error: VoxledgerError) => void;
  /** Native voices alone. `charIndex` counts from the text's beginning. */
  readonly onboundary?: (charIndex: number, name: "word" | "sentence") => void;
}

/** How a speech ended that did not fail. */
export interface Spoken {
  readonly cancelled: boolean;
}

/** Who can speak it, in the order in which they are tried; where one fails, the next goes on. */
export interface VoiceSelection {
  readonly voice: VoiceRequest;
  readonly backends: readonly SpeechBackend[];
}

export interface SpeechContext {
  readonly events: Events;
  selectVoice(params: SpeakParams): Promise<VoiceSelection>;
  /** Told who speaks from now on. */
  onBackendChange(narrator: SpeechBackend, wanted: VoiceRequest): Promise<void>;
  /** Tells of an error, once. */
  reportError(error: VoxledgerError): void;
}

/** One text being spoken. */
export interface Speech {
  /** Rejects when it failed, whether or not anybody looks. @throws {VoxledgerError} */
  readonly finished: Promise<Spoken>;
  pause(): void;
  resume(): void;
  cancel(): void;
}

export const startSpeech = (text: string, params: SpeakParams, stage: SpeechContext): Speech => {
  const { events } = stage;
  const abort = new AbortController();
  const { signal } = abort;
  const pauses = createPauseGate();
  const cancelled = Promise.withResolvers<Spoken>();
  let narrator: SpeechBackend | undefined;
  let phase: "coming" | "heard" | "over" = "coming";

  const onStart = (): void => {
    if (phase !== "coming") return;
    phase = "heard";
    events.emit("OnStart", {});
    callSafely(() => params.onstart?.());
  };

  const end = (spoken: Spoken): Spoken => {
    if (phase === "heard") {
      events.emit("OnEnd", spoken);
      callSafely(() => params.onend?.(spoken));
    }
    phase = "over";
    return spoken;
  };

  const tell = async ({ part, play }: PreparedPart): Promise<void> => {
    await pauses.passed(signal);
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

  /** Answers with what is left to be spoken when the narrator fails, and why it did. */
  const narrate = async (
    by: SpeechBackend,
    wanted: VoiceRequest,
    parts: readonly TextPart[],
  ): Promise<Unspoken> => {
    narrator = by;
    await stage.onBackendChange(by, wanted);
    let told = 0;
    try {
      for await (const passage of by.prepare(parts, signal)) {
        const { voice, lang } = wanted;
        if (told === 0) events.emit("OnVoiceResolved", { voice, lang, native: by.native });
        await tell(passage);
        if (signal.aborted) break;
        told++;
      }
      return { parts: [] };
    } catch (error) {
      return { parts: parts.slice(told), failure: asVoxledgerError(error) };
    }
  };

  const speak = async (): Promise<Spoken> => {
    const { voice, backends } = await stage.selectVoice(params);
    let unspoken: Unspoken = { parts: textParts(text, voice.lang) };
    if (unspoken.parts.length === 0) {
      throw new VoxledgerError("There is nothing to speak.", { code: "VALIDATION_ERROR" });
    }
    for (const each of backends) {
      if (signal.aborted) break;
      unspoken = await narrate(each, voice, unspoken.parts);
      if (unspoken.parts.length === 0) break;
    }
    if (unspoken.failure) throw unspoken.failure;
    return end({ cancelled: signal.aborted });
  };

  const fail = (error: unknown): never => {
    const failure = asVoxledgerError(error);
    phase = "over";
    stage.reportError(failure);
    callSafely(() => params.onerror?.(failure));
    throw failure;
  };

  const finished = Promise.race([
    speak().catch((error) => (signal.aborted ? { cancelled: true } : fail(error))),
    cancelled.promise,
  ]);
  finished.catch(() => {}); // told by OnError and onerror too: a caller who listens there need not await

  return {
    finished,
    pause: () => {
      if (pauses.closed || phase === "over") return;
      pauses.close();
      narrator?.pause();
      events.emit("OnPause", {});
    },
    resume: () => {
      if (!pauses.closed || phase === "over") return;
      narrator?.resume();
      pauses.open();
      events.emit("OnResume", {});
    },
    cancel: () => {
      if (phase === "over") return;
      abort.abort();
      cancelled.resolve(end({ cancelled: true }));
    },
  };
};

interface Unspoken {
  readonly parts: readonly TextPart[];
  readonly failure?: VoxledgerError;
}
