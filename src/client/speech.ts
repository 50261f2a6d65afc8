import { asVoxledgerError, VoxledgerError } from "./errors.ts";
import { callSafely, type EventPayloads, type Events } from "./events.ts";
import type { Boundary } from "./playback/boundaries.ts";
import type { PreparedPart, SpeechBackend } from "./playback/speech-backend.ts";
import { loadTextParts, partsFrom, type TextPart } from "./text-parts.ts";
import type { VoiceRequest } from "./transport/transport.ts";

export interface SpeakParams {
  readonly voice?: string;
  /** BCP-47; selects a voice if none is named. */
  readonly lang?: string;
  /** 0 to 2, 1 is normal. */
  readonly pitch?: number;
  /** 0 to 2, 1 is normal. */
  readonly rate?: number;
  /** 0 to 1, 1 is normal. */
  readonly volume?: number;
  /** True if the player applies rate and volume that the service could not apply. Default: true. */
  readonly prosodyFallback?: boolean;
  /**
   * The offset into the text at which the speech starts. The part around it keeps its audio, which
   * is played from that word on, or from its sentence if the times of the words are unknown.
   */
  readonly startAt?: number;
  readonly onstart?: () => void;
  readonly onend?: (end: EventPayloads["OnEnd"]) => void;
  readonly onerror?: (error: VoxledgerError) => void;
  /**
   * Called when a word or sentence is spoken: by the browser's own voices, and by voices of the
   * service if the service knows their timings. `charIndex` is an offset into the text; `boundary`
   * has the members of the browser's event.
   */
  readonly onboundary?: (charIndex: number, name: "word" | "sentence", boundary: Boundary) => void;
}

/** The result of a speech that did not fail. */
export interface SpeechResult {
  readonly cancelled: boolean;
}

/**
 * The voice, and the backends that can speak it. If one fails, the next one continues with the same
 * part.
 */
interface VoiceSelection {
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

interface RemainingParts {
  readonly parts: readonly TextPart[];
  readonly failure?: VoxledgerError;
}

/** A call of `speak`. It starts at once. */
export class Speech {
  /**
   * A rejection need not be handled.
   * @throws {VoxledgerError}
   */
  readonly finished: Promise<SpeechResult>;
  readonly #params: SpeakParams;
  readonly #context: SpeechContext;
  readonly #abort = new AbortController();
  readonly #signal = this.#abort.signal;
  readonly #cancelled = Promise.withResolvers<SpeechResult>();
  #paused: PromiseWithResolvers<void> | undefined;
  #backend: SpeechBackend | undefined;
  #state: "loading" | "audible" | "finished" = "loading";

  constructor(text: string, params: SpeakParams, context: SpeechContext) {
    this.#params = params;
    this.#context = context;
    const spoken = this.#speak(text).catch((error) =>
      this.#signal.aborted ? { cancelled: true } : this.#fail(error),
    );
    this.finished = Promise.race([spoken, this.#cancelled.promise]);
    this.finished.catch(() => {}); // reported by OnError and onerror: callers that listen to those need not await
  }

  pause(): void {
    if (this.#paused || this.#state === "finished") return;
    this.#paused = Promise.withResolvers();
    this.#backend?.pause();
    this.#context.events.emit("OnPause", {});
  }

  resume(): void {
    if (!this.#paused || this.#state === "finished") return;
    this.#backend?.resume();
    this.#unpause();
    this.#context.events.emit("OnResume", {});
  }

  cancel(): void {
    if (this.#state === "finished") return;
    this.#abort.abort();
    this.#unpause();
    this.#cancelled.resolve(this.#finish({ cancelled: true }));
  }

  async #speak(text: string): Promise<SpeechResult> {
    const { voice, backends } = await this.#context.selectVoice(this.#params);
    let remaining: RemainingParts = {
      parts: partsFrom(await loadTextParts(text, voice.lang), this.#params.startAt ?? 0),
    };
    if (remaining.parts.length === 0) {
      throw new VoxledgerError("The text is empty.", { code: "VALIDATION_ERROR" });
    }
    for (const backend of backends) {
      if (this.#signal.aborted) break;
      remaining = await this.#speakWith(backend, voice, remaining.parts);
      if (remaining.parts.length === 0) break;
    }
    if (remaining.failure) throw remaining.failure;
    return this.#finish({ cancelled: this.#signal.aborted });
  }

  /** Returns the parts that the backend failed to speak, and why. */
  async #speakWith(
    backend: SpeechBackend,
    request: VoiceRequest,
    parts: readonly TextPart[],
  ): Promise<RemainingParts> {
    this.#backend = backend;
    await this.#context.onBackendStart(backend, request);
    const { voice, lang } = request;
    let spoken = 0;
    try {
      for await (const prepared of backend.prepare(parts, this.#signal)) {
        if (spoken === 0)
          this.#context.events.emit("OnVoiceResolved", { voice, lang, native: backend.native });
        await this.#playPart(prepared);
        if (this.#signal.aborted) break;
        spoken++;
      }
      return { parts: [] };
    } catch (error) {
      return { parts: parts.slice(spoken), failure: asVoxledgerError(error) };
    }
  }

  async #playPart({ part, play }: PreparedPart): Promise<void> {
    const signal = this.#signal;
    const { events } = this.#context;
    const { onboundary } = this.#params;
    while (this.#paused) await this.#paused.promise;
    if (signal.aborted) return;
    await play({
      signal,
      onStart: () => {
        if (signal.aborted) return;
        this.#start();
        events.emit("OnPartStart", part);
      },
      onBoundary:
        onboundary &&
        ((inPart) => {
          const boundary = { ...inPart, charIndex: part.charIndex + inPart.charIndex };
          if (!signal.aborted) callSafely(() => onboundary(boundary.charIndex, boundary.name, boundary));
        }),
    });
    if (!signal.aborted) events.emit("OnPartEnd", part);
  }

  #start(): void {
    if (this.#state !== "loading") return;
    this.#state = "audible";
    this.#context.events.emit("OnStart", {});
    callSafely(() => this.#params.onstart?.());
  }

  #finish(result: SpeechResult): SpeechResult {
    if (this.#state === "audible") {
      this.#context.events.emit("OnEnd", result);
      callSafely(() => this.#params.onend?.(result));
    }
    this.#state = "finished";
    return result;
  }

  #fail(error: unknown): never {
    const failure = asVoxledgerError(error);
    this.#state = "finished";
    this.#context.reportError(failure);
    callSafely(() => this.#params.onerror?.(failure));
    throw failure;
  }

  #unpause(): void {
    this.#paused?.resolve();
    this.#paused = undefined;
  }
}
