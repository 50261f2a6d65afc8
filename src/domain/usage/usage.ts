import { Invalid } from "../errors.ts";
import type { AudioFormat } from "../synthesis/formats.ts";
import type { EngineCode } from "../synthesis/speech.ts";
import { emptyRecent, lookUp, type Recent, remember } from "./recent.ts";

/**
 * What one key was served in one month. Stream `usage-{apiKey}-{yyyy-mm}`; the month is that of `at`, in UTC.
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

/** How the audio came to be there when it was asked for. */
export type Provenance = "miss" | "coalesced" | "memory" | "store";

export interface SynthesisServed {
  readonly requestId: string;
  /** The audio's content address. */
  readonly hash: string;
  /** Code points counted for this answer: 0 for a repeat, and for a part of an object that was counted shortly before. */
  readonly characters: number;
  readonly engine: EngineCode;
  /** The friendly name asked for, or the system voice's name. */
  readonly voice: string;
  readonly lang: string;
  readonly format: AudioFormat;
  readonly cached: Provenance;
  /** True when a part was asked for and served (206). */
  readonly partial?: true;
  readonly idempotency?: Idempotency;
  /** True when an earlier serving with the same Idempotency-Key was charged for the same request. */
  readonly repeat?: true;
  /** How it went out, when that began before it was whole. */
  readonly stream?: StreamKind;
  /** The system voices that were tried before and failed. */
  readonly failed?: readonly string[];
  /** ISO 8601, UTC. */
  readonly at: string;
}

/** An Idempotency-Key and the request that it came with. Digests: neither can be read from them. */
export interface Idempotency {
  readonly key: string;
  readonly request: string;
}

/** Server-sent events, the audio's own bytes, or frames of a socket. */
export type StreamKind = "sse" | "audio" | "websocket";

/** What became of a stream that is on the ledger already: it counts nothing more, and nothing less. */
export interface StreamEnded {
  /** That of the `SynthesisServed` that it belongs to. */
  readonly requestId: string;
  readonly hash: string;
  /** `left`: by the listener, before its end; `failed`: it broke off on our side or upstream. */
  readonly outcome: "whole" | "left" | "failed";
  /** Bytes and chunks of audio that went out to the listener: as far as the network took them, heard or not. */
  readonly bytes: number;
  readonly chunks: number;
  /** ISO 8601, UTC. */
  readonly at: string;
}

/** Takes back the serving of a request that got no audio: answered 503, or a stream that ended before its first chunk. */
export interface ServingVoided {
  readonly requestId: string;
  /** Code points given back to the quota: those that the serving counted, unless they were passed on. */
  readonly characters: number;
  /** The repeat that bears the charge from now on, for as many code points. */
  readonly passed?: { readonly to: string; readonly characters: number };
  /** What is taken back; absent when the log held no serving of the request, and the event only keeps one from coming. */
  readonly serving?: Pick<SynthesisServed, "hash" | "engine" | "voice" | "at" | "idempotency">;
  /** ISO 8601, UTC; the month is that of the serving. */
  readonly at: string;
}

export interface Usage {
  /** Characters counted so far. */
  readonly used: number;
  /** The objects that were counted lately. */
  readonly recent: Recent<true>;
  /** The Idempotency-Keys that were used lately; null: the serving was voided. */
  readonly keyed: Recent<KeyedServing | null>;
}

interface KeyedServing {
  readonly request: string;
  /** The request that bears the charge. */
  readonly bearer: string;
  /** When the first of them was served, in milliseconds since the epoch. */
  readonly at: number;
}

/** A part of an object is free to the key that was counted for the object so long ago (in the same month). */
const freePartMs = 10 * 60_000;

/** A repeated Idempotency-Key is not charged again for so long. */
export const idempotencyMs = 24 * 60 * 60_000;

/** Remembered a little longer than it matters: the clocks of instances differ. */
const clockSkewMs = 60_000;

/** Limit of remembered objects; a part of an older one is counted again. */
export const objectMemory = { max: 4_096, keptMs: freePartMs + clockSkewMs };

/** Limit of remembered Idempotency-Keys per API key; a repeat of an older one is charged again. */
export const idempotencyMemory = { max: 10_000, keptMs: idempotencyMs + clockSkewMs };

export const usageStream = (apiKey: string, month: string): string => `usage-${apiKey}-${month}`;

/** `yyyy-mm` of an ISO 8601 UTC time. */
export const monthOf = (at: string): string => at.slice(0, 7);

/**
 * The months in which the same Idempotency-Key may have been used before, or, by an instance whose clock is ahead, just
 * now. A repeat is recorded in the month of the serving that it repeats, where one append decides about both.
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

/** The request that bears the charge passes it on; without a repeat, the Idempotency-Key may be used again. */
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

/** The month's quota has no room for the request. */
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

/** What an answer would be: several hashes where it is not yet known which object it will be of. */
export interface QuotaRequest {
  readonly hashes: readonly string[];
  readonly characters: number;
  readonly partial?: boolean | undefined;
  readonly idempotency?: Idempotency | undefined;
  /** ISO 8601, UTC. */
  readonly at: string;
}

/**
 * Whether a request with the same Idempotency-Key was charged within 24 hours.
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

/** The code points that an answer counts, for sure: none for a part that may be free. */
const chargedCharacters = ({ recent }: Usage, { hashes, characters, partial, at }: QuotaRequest): number => {
  const since = Date.parse(at) - freePartMs;
  return partial && hashes.some((hash) => lookUp(recent, hash, since)) ? 0 : characters;
};

/** The code points to count, if the quota (null: none) has room for them. @throws {QuotaExceeded} */
const requireWithinQuota = (usage: Usage, prospect: QuotaRequest, quota: number | null): number => {
  const characters = chargedCharacters(usage, prospect);
  if (quota !== null && usage.used + characters > quota) throw new QuotaExceeded(usage.used, quota);
  return characters;
};

/** Nothing to record, unless `serve` would refuse the answer. @throws {QuotaExceeded} @throws {Invalid} */
export const checkQuota = (usage: Usage, prospect: QuotaRequest, quota: number | null): [] => {
  if (!isRepeat(usage, prospect)) requireWithinQuota(usage, prospect, quota);
  return [];
};

/** Records an answer that repeats one that was charged; nothing if there is none. @throws {Invalid} */
export const recordRepeat = (usage: Usage, served: SynthesisServed): ServedEvent[] =>
  isRepeat(usage, served)
    ? [{ type: "SynthesisServed", data: { ...served, characters: 0, repeat: true } }]
    : [];

/** Records an answer with audio, if the quota has room for it. @throws {QuotaExceeded} @throws {Invalid} */
export const recordServing = (usage: Usage, served: SynthesisServed, quota: number | null): ServedEvent[] => {
  const repeat = recordRepeat(usage, served);
  if (repeat.length > 0) return repeat;
  const characters = requireWithinQuota(usage, { ...served, hashes: [served.hash] }, quota);
  return [{ type: "SynthesisServed", data: { ...served, characters } }];
};

/** Records how a stream ended. */
export const recordStreamEnd = (ended: StreamEnded): UsageEvent[] => [{ type: "StreamEnded", data: ended }];
