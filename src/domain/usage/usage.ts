import { Invalid } from "../errors.ts";
import type { AudioFormat } from "../synthesis/formats.ts";
import type { EngineCode } from "../synthesis/speech.ts";
import { emptyRecent, lookUp, type Recent, remember } from "./recent.ts";

/**
 * One key's usage in one month. Stream `usage-{apiKey}-{yyyy-mm}`; the month is that of `at`, in UTC.
 */
export type UsageEvent =
  | ServedEvent
  | VoidedEvent
  | { readonly type: "StreamEnded"; readonly data: StreamEnded };
export interface ServedEvent {
  readonly type: "SynthesisServed";
  readonly data: SynthesisServed;
}
export interface VoidedEvent {
  readonly type: "ServingVoided";
  readonly data: ServingVoided;
}

/** Where the audio came from. */
export type Provenance = "miss" | "coalesced" | "memory" | "store";

export interface SynthesisServed {
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
  readonly idempotency?: Idempotency;
  /** True if an earlier serving with the same Idempotency-Key was charged. */
  readonly repeat?: true;
  /** How it was streamed; absent for whole answers. */
  readonly stream?: StreamKind;
  /** The system voices that failed before. */
  readonly failed?: readonly string[];
  /** ISO 8601, UTC. */
  readonly at: string;
}

/** Digests of an Idempotency-Key and its request. */
export interface Idempotency {
  readonly key: string;
  readonly request: string;
}

/** Server-sent events, raw audio bytes, or WebSocket frames. */
export type StreamKind = "sse" | "audio" | "websocket";

/** The end of a recorded stream. It does not change the charge. */
export interface StreamEnded {
  /** The request id of its `SynthesisServed`. */
  readonly requestId: string;
  readonly hash: string;
  /** `left`: the listener left before the end; `failed`: the service or the upstream failed. */
  readonly outcome: "whole" | "left" | "failed";
  /** Audio bytes and chunks that were written to the connection. */
  readonly bytes: number;
  readonly chunks: number;
  /** ISO 8601, UTC. */
  readonly at: string;
}

/** Voids the serving of a request without audio: answered 503, or a stream that ended before its first chunk. */
export interface ServingVoided {
  readonly requestId: string;
  /** Code points returned to the quota: those of the serving, unless the charge was passed on. */
  readonly characters: number;
  /** The repeat that is charged instead, with these code points. */
  readonly passed?: { readonly to: string; readonly characters: number };
  /** The voided serving; absent if the log has none, and the event only prevents a late append. */
  readonly serving?: Pick<SynthesisServed, "hash" | "engine" | "voice" | "at" | "idempotency">;
  /** ISO 8601, UTC; the month is that of the serving. */
  readonly at: string;
}

export interface Usage {
  /** Charged characters so far. */
  readonly used: number;
  /** Recently charged objects. */
  readonly recent: Recent<true>;
  /** Recently used Idempotency-Keys; null: the serving was voided. */
  readonly keyed: Recent<KeyedServing | null>;
}

interface KeyedServing {
  readonly request: string;
  /** The charged request. */
  readonly bearer: string;
  /** The time of the first serving, in milliseconds since the epoch. */
  readonly at: number;
}

/** A part of an object is free for this long after the key was charged for the object (in the same month). */
const freePartMs = 10 * 60_000;

/** A repeated Idempotency-Key is not charged again for this long. */
export const idempotencyMs = 24 * 60 * 60_000;

/** Added to retention times, because the clocks of instances differ. */
const clockSkewMs = 60_000;

/** Retained objects. A part of an older one is charged again. */
export const objectMemory = { max: 4_096, keptMs: freePartMs + clockSkewMs };

/** Retained Idempotency-Keys per API key. A repeat of an older one is charged again. */
export const idempotencyMemory = { max: 10_000, keptMs: idempotencyMs + clockSkewMs };

export const usageStream = (apiKey: string, month: string): string => `usage-${apiKey}-${month}`;

/** `yyyy-mm` of an ISO 8601 UTC time. */
export const monthOf = (at: string): string => at.slice(0, 7);

/**
 * The other months in which the same Idempotency-Key may have been used, by clock skew also the next one. A repeat is
 * recorded in the month of the serving that it repeats, so that one stream decides about both.
 */
export const otherMonths = (at: string): string[] => {
  const monthAt = (offset: number) => monthOf(new Date(Date.parse(at) + offset).toISOString());
  return [monthAt(-idempotencyMs), monthAt(clockSkewMs)].filter((month) => month !== monthOf(at));
};

export const initialUsage = (): Usage => ({
  used: 0,
  recent: emptyRecent,
  keyed: emptyRecent,
});

export const evolveUsage = (usage: Usage, event: UsageEvent): Usage => {
  switch (event.type) {
    case "SynthesisServed":
      return {
        used: usage.used + event.data.characters,
        recent: rememberObject(usage.recent, event.data),
        keyed: rememberKey(usage.keyed, event.data),
      };
    case "ServingVoided":
      return {
        ...usage,
        used: usage.used - event.data.characters,
        keyed: forgetVoidedKey(usage.keyed, event.data),
      };
    default:
      return usage;
  }
};

const rememberObject = (
  recent: Usage["recent"],
  { hash, characters, at }: SynthesisServed,
): Usage["recent"] =>
  characters === 0 ? recent : remember(recent, { key: hash, at: Date.parse(at), value: true }, objectMemory);

const rememberKey = (keyed: Usage["keyed"], { requestId, idempotency, repeat, at }: SynthesisServed) => {
  if (!idempotency || repeat) return keyed;
  const { key, request } = idempotency;
  const time = Date.parse(at);
  return remember(
    keyed,
    { key, at: time, value: { request, bearer: requestId, at: time } },
    idempotencyMemory,
  );
};

/** A voided charge is passed on to a repeat. Without a repeat, the Idempotency-Key may be used again. */
const forgetVoidedKey = (
  keyed: Usage["keyed"],
  { requestId, serving, passed }: ServingVoided,
): Usage["keyed"] => {
  const key = serving?.idempotency?.key;
  const entry = key && lookUp(keyed, key, 0);
  if (!key || !entry || entry.bearer !== requestId) return keyed;
  const value = passed ? { ...entry, bearer: passed.to } : null;
  return remember(keyed, { key, at: entry.at, value }, idempotencyMemory);
};

export const usageDecider = { initial: initialUsage, evolve: evolveUsage };

/** The request would exceed the month's quota. */
export class QuotaExceeded extends Error {
  override readonly name = "QuotaExceeded";
  readonly used: number;
  readonly quota: number;

  constructor(used: number, quota: number) {
    super(`${used} of ${quota} characters are used`);
    this.used = used;
    this.quota = quota;
  }
}

/** A request to check against the quota. It has several hashes while the rendition is undecided. */
export interface QuotaRequest {
  readonly hashes: readonly string[];
  readonly characters: number;
  readonly partial?: boolean | undefined;
  readonly idempotency?: Idempotency | undefined;
  /** ISO 8601, UTC. */
  readonly at: string;
}

/**
 * True if a request with the same Idempotency-Key was charged within 24 hours.
 * @throws {Invalid} when it was another request
 */
export const isRepeat = (
  { keyed }: Usage,
  { idempotency, at }: Pick<QuotaRequest, "idempotency" | "at">,
): boolean => {
  if (!idempotency) return false;
  const earlier = lookUp(keyed, idempotency.key, Date.parse(at) - idempotencyMs);
  if (!earlier) return false;
  if (earlier.request !== idempotency.request) throw idempotencyKeyReused;
  return true;
};

const idempotencyKeyReused = new Invalid([
  { path: ["Idempotency-Key"], message: "was used with another request within 24 hours." },
]);

/** The code points that are certainly charged: none for a part that may be free. */
const chargedCharacters = ({ recent }: Usage, { hashes, characters, partial, at }: QuotaRequest): number => {
  const since = Date.parse(at) - freePartMs;
  return partial && hashes.some((hash) => lookUp(recent, hash, since)) ? 0 : characters;
};

/** The code points to charge, within the quota (null: no limit). @throws {QuotaExceeded} */
const requireWithinQuota = (usage: Usage, request: QuotaRequest, quota: number | null): number => {
  const characters = chargedCharacters(usage, request);
  if (quota !== null && usage.used + characters > quota) throw new QuotaExceeded(usage.used, quota);
  return characters;
};

/** Throws what `recordServing` would throw; never returns an event. @throws {QuotaExceeded} @throws {Invalid} */
export const checkQuota = (usage: Usage, request: QuotaRequest, quota: number | null): [] => {
  if (!isRepeat(usage, request)) requireWithinQuota(usage, request, quota);
  return [];
};

/** Records a repeat of a charged answer; no event if there is none. @throws {Invalid} */
export const recordRepeat = (usage: Usage, served: SynthesisServed): ServedEvent[] =>
  isRepeat(usage, served)
    ? [{ type: "SynthesisServed", data: { ...served, characters: 0, repeat: true } }]
    : [];

/** Records an answer with audio, within the quota. @throws {QuotaExceeded} @throws {Invalid} */
export const recordServing = (usage: Usage, served: SynthesisServed, quota: number | null): ServedEvent[] => {
  const repeat = recordRepeat(usage, served);
  if (repeat.length > 0) return repeat;
  const characters = requireWithinQuota(usage, { ...served, hashes: [served.hash] }, quota);
  return [{ type: "SynthesisServed", data: { ...served, characters } }];
};

/** Records how a stream ended. */
export const recordStreamEnd = (ended: StreamEnded): UsageEvent[] => [{ type: "StreamEnded", data: ended }];
