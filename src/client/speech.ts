import { asVoxledgerError, VoxledgerError } from "./errors.ts";
import { callSafely, type EventPayloads, type Events } from "./events.ts";
import type { Boundary } from "./playback/boundaries.ts";
import { partsFrom } from "./playback/part-start.ts";
import type { PreparedPart, SpeechBackend, SpokenPart } from "./playback/speech-backend.ts";
import type { TextSection } from "./text-parts.ts";

export interface SpeakParams {
  /** Speaks everything, whatever its language. */
  readonly voice?: string;
  /** BCP-47; the voice of this language speaks everything, unless `voice` is given. */
  readonly lang?: string;
  /**
   * Speaks everything in its own language. Other languages are spoken by a voice of theirs.
   * Default: the voice of the constructor's options, or else of the website.
   */
  readonly defaultVoice?: string;
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

/** `isArticle`: the parts are prepared by one request. */
export interface SpeechParams extends SpeakParams {
  readonly isArticle: boolean;
}

/** The result of a speech that did not fail. */
export interface SpeechResult {
  readonly cancelled: boolean;
}

/**
 * Selects the backend of each part of one speech, and continues with another one after a failure.
 */
export interface BackendSelection {
  /**
   * Returns the backend for the first of the parts, and those from it on that are its turn.
   * @throws {VoxledgerError} if none can speak
   */
  next(parts: readonly SpokenPart[], first: SpokenPart, signal: AbortSignal): Promise<BackendTurn>;
  /**
   * `spoken`: the number of parts of its turn that the backend has spoken.
   * @throws {VoxledgerError} if no other backend may continue
   */
  recordFailure(backend: SpeechBackend, failure: VoxledgerError, spoken: number): void;
}

export interface BackendTurn {
  readonly backend: SpeechBackend;
  readonly parts: readonly SpokenPart[];
}

export interface SpeechContext {
  readonly events: Events;
  /**
   * Divides the sections into parts, and selects their voices.
   * @throws {VoxledgerError}
   */
  prepareParts(
    sections: readonly TextSection[],
    params: SpeechParams,
  ): Promise<{ readonly parts: readonly SpokenPart[]; readonly backends: BackendSelection }>;
  /** Fires `OnError`, once per error. */
  reportError(error: VoxledgerError): void;
}

/** A call of `speak`. It starts at once. */
export class Speech {
  /**
   * A rejection need not be handled.
   * @throws {VoxledgerError}
   */
  readonly finished: Promise<SpeechResult>;
  readonly #params: SpeechParams;
  readonly #context: SpeechContext;
  readonly #abort = new AbortController();
  readonly #signal = this.#abort.signal;
  readonly #cancelled = Promise.withResolvers<SpeechResult>();
  #paused: PromiseWithResolvers<void> | undefined;
  #backend: SpeechBackend | undefined;
  #state: "loading" | "audible" | "finished" = "loading";
  /** The voice of the last part, as an event's JSON. */
  #resolved = "";

  constructor(text: string | readonly TextSection[], params: SpeechParams, context: SpeechContext) {
    this.#params = params;
    this.#context = context;
    const sections = typeof text === "string" ? [{ text }] : text;
    const spoken = this.#speak(sections).catch((error) =>
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

  async #speak(sections: readonly TextSection[]): Promise<SpeechResult> {
    const { parts, backends } = await this.#context.prepareParts(sections, this.#params);
    if (parts.length === 0) throw new VoxledgerError("The text is empty.", { code: "VALIDATION_ERROR" });
    let rest = partsFrom(parts, this.#params.startAt ?? 0);
    for (let first = rest[0]; first && !this.#signal.aborted; [first] = rest) {
      const turn = await backends.next(rest, first, this.#signal);
      rest = rest.slice(await this.#speakTurn(turn, backends));
    }
    return this.#finish({ cancelled: this.#signal.aborted });
  }

  /** Returns the number of parts that were spoken: not all of them if the backend failed. */
  async #speakTurn({ backend, parts }: BackendTurn, backends: BackendSelection): Promise<number> {
    this.#backend = backend;
    let spoken = 0;
    try {
      for await (const prepared of backend.prepare(parts, this.#signal)) {
        if (this.#signal.aborted) break;
        this.#resolveVoice(prepared, backend.native);
        await this.#playPart(prepared);
        spoken++;
      }
    } catch (error) {
      if (!this.#signal.aborted) backends.recordFailure(backend, asVoxledgerError(error), spoken);
    }
    return spoken;
  }

  #resolveVoice({ voice: { voice, lang } }: SpokenPart, native: boolean): void {
    const resolved = JSON.stringify([voice, lang, native]);
    if (resolved !== this.#resolved) this.#context.events.emit("OnVoiceResolved", { voice, lang, native });
    this.#resolved = resolved;
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
