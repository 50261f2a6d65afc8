import type { AudioFormat } from "../synthesis/formats.ts";
import type { EngineCode } from "../synthesis/speech.ts";

/** Where the audio came from. */
export type Provenance = "miss" | "coalesced" | "memory" | "store";

/** Server-sent events, raw audio bytes, WebSocket frames, or events of the Wyoming protocol. */
export type StreamKind = "sse" | "audio" | "websocket" | "wyoming";

/** Digests of an Idempotency-Key and its request. */
export interface Idempotency {
  readonly key: string;
  readonly request: string;
}

/** An answer with audio. Its time is that of the journal event that holds it. */
export interface Serving {
  readonly apiKey: string;
  readonly requestId: string;
  /** The audio's content address. */
  readonly hash: string;
  /** Charged code points: 0 for a repeat, and for a part of an object that was charged shortly before. */
  readonly characters: number;
  readonly engine: EngineCode;
  /** The requested friendly name, or the system voice's name. */
  readonly voice: string;
  readonly lang: string;
  readonly format: AudioFormat;
  readonly cached: Provenance;
  /** True for a partial answer (206). */
  readonly partial?: true;
  /** How it was streamed; absent for whole answers. */
  readonly stream?: StreamKind;
  readonly idempotency?: Idempotency;
  /** True if an earlier serving with the same Idempotency-Key was charged. */
  readonly repeat?: true;
  /** The system voices that failed before. */
  readonly failed?: readonly string[];
  /** W3C trace context, if the request is traced. */
  readonly traceparent?: string;
}

/** A recorded serving. */
export interface Receipt {
  readonly journal: string;
  readonly serving: Serving;
  /** ISO 8601, UTC. */
  readonly at: string;
}

/** Returns the charge of a serving. */
export interface VoidedServing {
  readonly apiKey: string;
  readonly requestId: string;
  /** Code points returned to the quota: those of the serving. */
  readonly characters: number;
  readonly hash: string;
  readonly engine: EngineCode;
  readonly voice: string;
  /** The time of the serving, ISO 8601, UTC. It decides the month and the day. */
  readonly servedAt: string;
  /** The journal that holds the serving, if it is another one. */
  readonly journal?: string;
  /**
   * `unanswered`: the caller received no audio, and the request does not count. `repeat`: a concurrent request with the same
   * Idempotency-Key was charged; the request counts, without characters.
   */
  readonly reason: "unanswered" | "repeat";
}

/** The end of a recorded stream. It does not change the charge. */
export interface StreamEnd {
  readonly apiKey: string;
  /** The request id of its serving. */
  readonly requestId: string;
  readonly hash: string;
  /** `left`: the listener left before the end; `failed`: the service or the upstream failed. */
  readonly outcome: "whole" | "left" | "failed";
  /** Audio bytes and chunks that were written to the connection. */
  readonly bytes: number;
  readonly chunks: number;
}
