import { isOfType, isWellFormed } from "../../domain/event-shapes.ts";
import { eventDigest } from "../../domain/ledger/journal/canonical.ts";
import { type JournalEvent, type JournalPosted, journalStream } from "../../domain/ledger/journal/journal.ts";
import { type EventStore, eventTime, type RecordedEvent } from "../../eventstore/event-store.ts";

export interface JournalEnd {
  /** The last revision. */
  readonly revision: number;
  /** The digest and the time of the event at this revision. */
  readonly digest: string;
  readonly at: string;
  readonly closed: boolean;
  /**
   * The revision of `JournalClosed`: no later event has entries. Undefined while the journal is
   * open.
   */
  readonly closedRevision: number | undefined;
}

/**
 * The end of the journal, as far as reads show it: a store may refuse an append because of events
 * that reads do not show yet.
 * @throws {EventStoreUnavailable}
 */
export const readJournalEnd = async (store: EventStore, journal: string): Promise<JournalEnd | undefined> => {
  let last: RecordedEvent | undefined;
  for await (const event of store.readStream(journalStream(journal), { direction: "backwards" })) {
    last ??= event;
    // Only `JournalPosted` follows `JournalClosed`.
    if (event.type === "JournalPosted") continue;
    return endOf(last, event.type === "JournalClosed" ? event.revision : undefined);
  }
  return last && endOf(last, undefined);
};

const endOf = (last: RecordedEvent, closedRevision: number | undefined): JournalEnd => ({
  revision: last.revision,
  digest: eventDigest(last),
  at: eventTime(last),
  closed: closedRevision !== undefined,
  closedRevision,
});

/**
 * The revision up to which the accounts include the journal, as its last `JournalPosted` says; -1
 * if there is no `JournalPosted`.
 * @throws {EventStoreUnavailable}
 */
export const readPostedUpTo = async (store: EventStore, journal: string): Promise<number> => {
  for await (const event of store.readStream(journalStream(journal), { direction: "backwards" })) {
    if (event.type === "JournalPosted" && isWellFormed(event)) return (event.data as JournalPosted).through;
  }
  return -1;
};

/**
 * The journal's events that may be unposted, up to `toInclusive`.
 * @throws {EventStoreUnavailable}
 */
export async function* readUnposted(
  store: EventStore,
  journal: string,
  toInclusive?: number,
): AsyncGenerator<RecordedEvent, void, undefined> {
  const fromInclusive = (await readPostedUpTo(store, journal)) + 1;
  const limit = toInclusive === undefined ? {} : { limit: Math.max(0, toInclusive - fromInclusive + 1) };
  yield* store.readStream(journalStream(journal), { fromInclusive, ...limit });
}

/**
 * A process records the consequences of an entry within seconds, unless it waits for the event
 * store.
 */
const marginMs = 60_000;

/**
 * The journal's events with entries, the latest first, back to a minute before the last one.
 * @throws {EventStoreUnavailable}
 */
export async function* readLastMinute(
  store: EventStore,
  journal: string,
): AsyncGenerator<EntriesEvent, void, undefined> {
  let oldest: number | undefined;
  for await (const recorded of store.readStream(journalStream(journal), { direction: "backwards" })) {
    if (
      !isOfType<EntriesEvent, RecordedEvent>(recorded, ["SynthesesServed", "ServingsVoided", "StreamsEnded"])
    )
      continue;
    const time = Date.parse(recorded.data.at);
    oldest ??= time - marginMs;
    if (time < oldest) return;
    yield recorded;
  }
}

type EntriesEvent = Exclude<JournalEvent, { type: "JournalPosted" | "JournalClosed" }>;
