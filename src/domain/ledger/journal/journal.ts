import {
  code,
  count,
  type DataOf,
  type EventOf,
  listOf,
  nullable,
  optional,
  record,
  text,
  utcTime,
} from "../../shape.ts";
import { monthOf, startOfMonth } from "../month.ts";
import { eventDigest } from "./canonical.ts";
import { type AudioSource, servedAudio, servingDetails, streamEnd, voidedServing } from "./serving.ts";

export const chained = {
  at: utcTime,
  /**
   * SHA-256 (hex) of the canonical form of the preceding event of the journal; null for the first
   * event.
   */
  previous: nullable(text),
};
export type Chained = DataOf<typeof chained>;

/**
 * One process's servings in the order in which they became durable. Stream `journal-{journal}`,
 * where `journal` is a new UUID for each journal that a process opens. Only that process appends,
 * until any process appends `JournalClosed`. After that only `JournalPosted` follows. Times never
 * go backwards within a journal.
 */
export const journalShapes = {
  /**
   * The servings of one flush in columns: values at the same index belong together. All servings
   * are of the month of `at`.
   */
  SynthesesServed: {
    /** The distinct API keys, and the distinct audio: `key` and `sound` are indexes into these. */
    keys: listOf(text),
    sounds: listOf(servedAudio),
    requestIds: listOf(text),
    key: listOf(count),
    sound: listOf(count),
    characters: listOf(count),
    cached: listOf(code<AudioSource>()),
    /** The rare members of servings, by their index. Absent if no serving has any. */
    details: optional(record(servingDetails)),
    ...chained,
  },
  ServingsVoided: { servings: listOf(voidedServing), ...chained },
  StreamsEnded: { streams: listOf(streamEnd), ...chained },
  /** The accounts include all entries of the journal up to this revision. */
  JournalPosted: { through: count, ...chained },
  /** No servings, voids or ends of streams follow. */
  JournalClosed: {
    /**
     * `shutdown` and `idle`: its own process closed it. `silent`: another process closed it, after
     * 15 minutes without an event, or at once if its own process was a worker that has ended.
     * `unresponsive`: another process closed it, because its own process did not return reserved
     * characters, or renew the claim of an Idempotency-Key, in time. Its own process also closes it
     * with this reason if the quota stream states another total for the journal than the process
     * expects.
     */
    reason: code<"shutdown" | "idle" | "silent" | "unresponsive">(),
    ...chained,
  },
};
export type JournalEvent = EventOf<typeof journalShapes>;
export const journalTypes = Object.keys(journalShapes) as JournalEvent["type"][];
export type ServedEvent = Extract<JournalEvent, { type: "SynthesesServed" }>;
export type SynthesesServed = DataOf<typeof journalShapes.SynthesesServed>;
export type JournalPosted = DataOf<typeof journalShapes.JournalPosted>;
export type JournalClosed = DataOf<typeof journalShapes.JournalClosed>;

export const journalPrefix = "journal-";

export const journalStream = (journal: string): string => `${journalPrefix}${journal}`;

/**
 * The journal was closed, or its reservations were settled, by another process: entries that were
 * not durable are not in it. Continue in a new journal.
 */
export class JournalTakenOver extends Error {
  override readonly name = "JournalTakenOver";

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

/** Returns the time itself if it is of this month, else the nearest time of the month. */
export const nearestTimeInMonth = (at: string, month: string): string => {
  const other = monthOf(at);
  if (other === month) return at;
  return new Date(other < month ? startOfMonth(month) : startOfMonth(month, 1) - 1).toISOString();
};
