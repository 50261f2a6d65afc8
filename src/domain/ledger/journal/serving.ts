import { type Checked, code, count, flag, listOf, object, optional, text, utcTime } from "../../shape.ts";
import type { AudioFormat } from "../../synthesis/formats.ts";
import type { EngineCode } from "../../synthesis/speech.ts";

/** The source of the audio. */
export type AudioSource = "miss" | "coalesced" | "memory" | "store";

/** Server-sent events, raw audio bytes, WebSocket frames, or events of the Wyoming protocol. */
export type StreamKind = "sse" | "audio" | "websocket" | "wyoming";

/** Digests of an Idempotency-Key and its request. */
const idempotency = object({
  key: text,
  request: text,
  /**
   * The website whose article has this part. All of the website's keys share its `key`, which is of
   * one month and does not expire. Absent for an Idempotency-Key.
   */
  website: optional(text),
});
export interface Idempotency extends Checked<typeof idempotency> {
  /** Version 0.1.0 recorded this digest as `request`. It is only compared with such records. */
  readonly formerRequest?: string;
}

export const servedAudio = object({
  /** The audio's content address. */
  hash: text,
  engine: code<EngineCode>(),
  /** The requested friendly name, or the system voice's name. */
  voice: text,
  lang: text,
  format: code<AudioFormat>(),
});
export type ServedAudio = Checked<typeof servedAudio>;

/** The rare members of a serving. */
export const servingDetails = object({
  /** True for a partial response (206). */
  partial: optional(flag),
  /** The bytes of a partial response with private audio, and those of the whole audio. */
  part: optional(object({ bytes: count, size: count })),
  /** The kind of stream; absent for complete responses. */
  stream: optional(code<StreamKind>()),
  /**
   * True if an engine worked for the request, but the caller received no audio: the caller
   * disconnected, or its request failed by no fault of the service or the provider.
   */
  undelivered: optional(flag),
  idempotency: optional(idempotency),
  /** True if an earlier serving with the same Idempotency-Key was charged. */
  repeat: optional(flag),
  /** The system voices that were tried before this one and failed. */
  failed: optional(listOf(text)),
  /** W3C trace context, if the request is traced. */
  traceparent: optional(text),
});
export type ServingDetails = Checked<typeof servingDetails>;

/**
 * A response with audio. Its time is that of the event `SynthesesServed` that holds it
 * (`journal.ts`). `ServingColumns` writes servings into such events, and `expandServings` reads
 * them (`serving-columns.ts`).
 */
export interface Serving extends ServedAudio, ServingDetails {
  readonly apiKey: string;
  readonly requestId: string;
  /**
   * Charged code points: 0 for a repeat, and for a part of audio that was charged shortly before.
   */
  readonly characters: number;
  readonly cached: AudioSource;
}

/** A recorded serving. */
export interface Receipt {
  readonly journal: string;
  readonly serving: Serving;
  /** The time in ISO 8601, UTC. */
  readonly at: string;
  /**
   * True if the charge is being voided, because a concurrent request with the same Idempotency-Key
   * is charged.
   */
  readonly isVoided?: true;
}

/** An entry that takes back the charge of a serving. */
export const voidedServing = object({
  apiKey: text,
  requestId: text,
  /** The code points that are returned to the quota: those of the serving. */
  characters: count,
  hash: text,
  engine: code<EngineCode>(),
  voice: text,
  /** The time of the serving. It decides the month and the day. */
  servedAt: utcTime,
  /** The journal that holds the serving, if it is not the one that holds this void. */
  journal: optional(text),
  /**
   * `unanswered`: the caller received no audio, and the request does not count. `repeat`: a
   * concurrent request with the same Idempotency-Key was charged; the request counts, without
   * characters.
   */
  reason: code<"unanswered" | "repeat">(),
});
export type VoidedServing = Checked<typeof voidedServing>;

/** The end of a recorded stream. It does not change the charge. */
export const streamEnd = object({
  apiKey: text,
  /** The request id of its serving. */
  requestId: text,
  hash: text,
  /**
   * `left`: the listener disconnected before the end; `failed`: the service or the upstream failed.
   */
  outcome: code<"whole" | "left" | "failed">(),
  /** Audio bytes and chunks that were written to the connection. */
  bytes: count,
  chunks: count,
});
export type StreamEnd = Checked<typeof streamEnd>;
