import type { AudioFormat, EngineCode } from "./speech.ts";

/**
 * What one key was served in one month. Stream `usage-{apiKey}-{yyyy-mm}`. The month is that of `at`, in UTC.
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
  readonly at: string;
}

export interface Usage {
  /** Characters counted so far. */
  readonly used: number;
  /** When each object was last counted; only those that still excuse a part are kept. */
  readonly counted: ReadonlyMap<string, number>;
}

/** A part of an object is free to the key that was counted for the object so long ago. */
export const partialGraceMs = 10 * 60_000;

export const usageStream = (apiKey: string, month: string): string => `usage-${apiKey}-${month}`;
/** `yyyy-mm` of an ISO 8601 UTC time. */
export const monthOf = (at: string): string => at.slice(0, 7);

export const initialUsage = (): Usage => ({ used: 0, counted: new Map() });
