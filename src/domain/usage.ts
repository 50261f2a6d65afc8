import { countedSince, nothingCounted, type RecentlyCounted, remember } from "./recently-counted.ts";
import type { AudioFormat, EngineCode } from "./speech.ts";

/**
 * What one key was served in one month. Stream `usage-{apiKey}-{yyyy-mm}`; the month is that of `at`, in UTC.
 */
export type UsageEvent = { readonly type: "SynthesisServed"; readonly data: SynthesisServed };

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
  /** The system voices that were tried before and failed. */
  readonly failed?: readonly string[];
  /** ISO 8601, UTC. */
  readonly at: string;
}

export interface Usage {
  /** Characters counted so far. */
  readonly used: number;
  readonly recent: RecentlyCounted;
}

/** A part of an object is free to the key that was counted for the object so long ago (in the same month). */
export const partialGraceMs = 10 * 60_000;

export const usageStream = (apiKey: string, month: string): string => `usage-${apiKey}-${month}`;

/** `yyyy-mm` of an ISO 8601 UTC time. */
export const monthOf = (at: string): string => at.slice(0, 7);

export const initialUsage = (): Usage => ({ used: 0, recent: nothingCounted });

export const evolveUsage = (usage: Usage, event: UsageEvent): Usage => {
  const { hash, characters, at } = event.data;
  if (event.type !== "SynthesisServed" || characters === 0) return usage;
  return {
    used: usage.used + characters,
    recent: remember(usage.recent, hash, Date.parse(at), partialGraceMs),
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

/** Nothing to record, unless the quota (null: none) has no room for so many characters. @throws {QuotaExceeded} */
export const requireRoom = ({ used }: Usage, characters: number, quota: number | null): [] => {
  if (quota !== null && used + characters > quota) throw new QuotaExceeded(used, quota);
  return [];
};

/** Records an answer with audio, if the quota has room for it. @throws {QuotaExceeded} */
export const serve = (usage: Usage, served: SynthesisServed, quota: number | null): UsageEvent[] => {
  const free =
    served.partial && countedSince(usage.recent, served.hash, Date.parse(served.at) - partialGraceMs);
  const characters = free ? 0 : served.characters;
  requireRoom(usage, characters, quota);
  return [{ type: "SynthesisServed", data: { ...served, characters } }];
};
