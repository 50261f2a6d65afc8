import { isWellFormed } from "../../../domain/event-shapes.ts";
import { isOfType } from "../../../domain/event-type.ts";
import { eventDigest } from "../../../domain/ledger/canonical.ts";
import { type JournalEvent, type JournalPosted, journalStream } from "../../../domain/ledger/journal.ts";
import type { EventStore, RecordedEvent } from "../../../eventstore/event-store.ts";
import { eventTime } from "../../usage/events/event-time.ts";

export interface JournalEnd {
  /** The last revision. */
  readonly revision: number;
  /** The digest and the time of the event at this revision. */
  readonly digest: string;
  readonly at: string;
  readonly closed: boolean;
  /** The revision of `JournalClosed`: no later event has entries. Undefined while the journal is open. */
  readonly closedRevision: number | undefined;
}

/** The end of the journal, as far as reads show it: they may lag behind refused appends. @throws {EventStoreUnavailable} */
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
 * The revision that the last `JournalPosted` names, or the last one up to a log position: the accounts include the journal up to
 * it; -1 without. @throws {EventStoreUnavailable}
 */
export const readPostedMark = async (
  store: EventStore,
  journal: string,
  asOfPosition = Number.POSITIVE_INFINITY,
): Promise<number> => {
  for await (const event of store.readStream(journalStream(journal), { direction: "backwards" })) {
    if (event.type !== "JournalPosted" || event.position > asOfPosition || !isWellFormed(event)) continue;
    return (event.data as JournalPosted).through;
  }
  return -1;
};

/** A process acts on an entry within seconds, unless it waits for the event store. */
const marginMs = 60_000;

/** The journal's events with entries, the latest first, back to a minute before the last one. @throws {EventStoreUnavailable} */
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
