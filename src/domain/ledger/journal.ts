import { eventDigest } from "./canonical.ts";
import { monthOf, startOfMonth } from "./month.ts";
import type { Provenance, Serving, StreamEnd, VoidedServing } from "./serving.ts";

/**
 * One process's servings in the order in which they became durable. Stream `journal-{journal}`, where `journal` is a
 * new UUID for each journal that a process opens. Only that process appends, until any process appends `JournalClosed`. After that only
 * `JournalPosted` follows. Times never go backwards within a journal.
 */
export type JournalEvent =
  | { readonly type: "SynthesesServed"; readonly data: SynthesesServed }
  | { readonly type: "ServingsVoided"; readonly data: ServingsVoided }
  | { readonly type: "StreamsEnded"; readonly data: StreamsEnded }
  | { readonly type: "JournalPosted"; readonly data: JournalPosted }
  | { readonly type: "JournalClosed"; readonly data: JournalClosed };

export interface Chained {
  /** ISO 8601, UTC. */
  readonly at: string;
  /** SHA-256 (hex) of the canonical form of the preceding event of the journal; null for the first event. */
  readonly previous: string | null;
}

/** The servings of one flush in columns: the entries at the same index belong together. All are of the month of `at`. */
export interface SynthesesServed extends Chained {
  /** The distinct API keys, and the distinct sounds: `key` and `sound` are indexes into these. */
  readonly keys: readonly string[];
  readonly sounds: readonly SoundServed[];
  readonly requestIds: readonly string[];
  readonly key: readonly number[];
  readonly sound: readonly number[];
  readonly characters: readonly number[];
  readonly cached: readonly Provenance[];
  /** The rare members of servings, by their index. Absent if no serving has any. */
  readonly details?: Readonly<Record<string, ServingDetails>>;
}

export type SoundServed = Pick<Serving, "hash" | "engine" | "voice" | "lang" | "format">;

export type ServingDetails = Pick<
  Serving,
  "partial" | "stream" | "idempotency" | "repeat" | "failed" | "traceparent"
>;

export interface ServingsVoided extends Chained {
  readonly servings: readonly VoidedServing[];
}

export interface StreamsEnded extends Chained {
  readonly streams: readonly StreamEnd[];
}

/** The accounts include all entries of the journal up to this revision. */
export interface JournalPosted extends Chained {
  readonly through: number;
}

/** No servings, voids or stream ends follow. */
export interface JournalClosed extends Chained {
  /**
   * `shutdown` and `idle`: by its own process. `silent`: by another one, after a long silence. `unresponsive`: by another one,
   * because it did not return reserved characters in time; or by its own process, because the quota stream had another total
   * for it than it had stated.
   */
  readonly reason: "shutdown" | "idle" | "silent" | "unresponsive";
}

export const journalPrefix = "journal-";

export const journalStream = (journal: string): string => `${journalPrefix}${journal}`;

/** The journal was closed, or its reservations were settled, by another process: entries that were not durable are not in it. Continue in a new journal. */
export class JournalFenced extends Error {
  override readonly name = "JournalFenced";

  constructor(journal: string) {
    super(`Another process has closed the journal ${journal}.`);
  }
}

/** An event of a journal and its digest. */
export interface Link {
  readonly event: JournalEvent;
  readonly digest: string;
}

/** Creates the events of one append in order, each with the digest of its predecessor. */
export const linkEvents = (
  create: readonly ((chained: Chained) => JournalEvent)[],
  { at, previous }: Chained,
): Link[] => {
  let last = previous;
  return create.map((createEvent) => {
    const event = createEvent({ at, previous: last });
    const digest = eventDigest(event);
    last = digest;
    return { event, digest };
  });
};

/** The time, or the nearest time of the month if it is of another month. */
export const nearestTimeInMonth = (at: string, month: string): string => {
  const other = monthOf(at);
  if (other === month) return at;
  return new Date(other < month ? startOfMonth(month) : startOfMonth(month, 1) - 1).toISOString();
};
