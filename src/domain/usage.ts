import { countedSince, nothingCounted, type RecentlyCounted, remember } from "./recently-counted.ts";
import type { AudioFormat, EngineCode } from "./speech.ts";

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
  /** Code points counted for this answer: 0 for a part of an object that was counted shortly before. */
  readonly characters: number;
  readonly engine: EngineCode;
  /** The friendly name asked for, or the system voice's name. */
  readonly voice: string;
  readonly lang: string;
  readonly format: AudioFormat;
  readonly cached: Provenance;
  /** True when a part was asked for and served (206). */
  readonly partial?: true;
  /** How it went out, when that began before it was whole. */
  readonly stream?: StreamKind;
  /** The system voices that were tried before and failed. */
  readonly failed?: readonly string[];
  /** ISO 8601, UTC. */
  readonly at: string;
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
  /** Code points given back to the quota: those that the serving counted. */
  readonly characters: number;
  /** What is taken back; absent when the log held no serving of the request, and the event only keeps one from coming. */
  readonly serving?: Pick<SynthesisServed, "hash" | "engine" | "voice" | "at">;
  /** ISO 8601, UTC; the month is that of the serving. */
  readonly at: string;
}

export interface Usage {
  /** Characters counted so far. */
  readonly used: number;
  readonly recent: RecentlyCounted;
}

/** A part of an object is free to the key that was counted for the object so long ago (in the same month). */
const partialGraceMs = 10 * 60_000;

/** What was counted is remembered a little longer than it is free for: the clocks of instances differ. */
export const rememberedMs = partialGraceMs + 60_000;

/** At most so many of a stream's last served answers tell what was counted recently. */
export { maxObjects as maxRememberedEvents } from "./recently-counted.ts";

export const usageStream = (apiKey: string, month: string): string => `usage-${apiKey}-${month}`;

/** `yyyy-mm` of an ISO 8601 UTC time. */
export const monthOf = (at: string): string => at.slice(0, 7);

export const initialUsage = (): Usage => ({ used: 0, recent: nothingCounted });

export const evolveUsage = (usage: Usage, event: UsageEvent): Usage => {
  switch (event.type) {
    case "SynthesisServed":
      return counted(usage, event.data);
    case "ServingVoided":
      return { ...usage, used: usage.used - event.data.characters };
    default:
      return usage;
  }
};

const counted = (usage: Usage, { hash, characters, at }: SynthesisServed): Usage => {
  if (characters === 0) return usage;
  return {
    used: usage.used + characters,
    recent: remember(usage.recent, hash, Date.parse(at), rememberedMs),
  };
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
export interface Prospect {
  readonly hashes: readonly string[];
  readonly characters: number;
  readonly partial?: boolean | undefined;
  /** ISO 8601, UTC. */
  readonly at: string;
}

/** The code points that an answer counts, for sure: none for a part that may be free. */
const countedFor = ({ recent }: Usage, { hashes, characters, partial, at }: Prospect): number => {
  const since = Date.parse(at) - partialGraceMs;
  return partial && hashes.some((hash) => countedSince(recent, hash, since)) ? 0 : characters;
};

/** The code points to count, if the quota (null: none) has room for them. @throws {QuotaExceeded} */
const admit = (usage: Usage, prospect: Prospect, quota: number | null): number => {
  const characters = countedFor(usage, prospect);
  if (quota !== null && usage.used + characters > quota) throw new QuotaExceeded(usage.used, quota);
  return characters;
};

/** Nothing to record, unless `serve` would refuse the answer. @throws {QuotaExceeded} */
export const requireRoom = (usage: Usage, prospect: Prospect, quota: number | null): [] => {
  admit(usage, prospect, quota);
  return [];
};

/** Records an answer with audio, if the quota has room for it. @throws {QuotaExceeded} */
export const serve = (usage: Usage, served: SynthesisServed, quota: number | null): ServedEvent[] => {
  const characters = admit(usage, { ...served, hashes: [served.hash] }, quota);
  return [{ type: "SynthesisServed", data: { ...served, characters } }];
};

/** Records how a stream ended. */
export const endStream = (ended: StreamEnded): UsageEvent[] => [{ type: "StreamEnded", data: ended }];
