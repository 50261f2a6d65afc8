import { eventDigest } from "../../src/domain/ledger/journal/canonical.ts";
import { type JournalEvent, journalStream } from "../../src/domain/ledger/journal/journal.ts";
import type { Serving, StreamEnd, VoidedServing } from "../../src/domain/ledger/journal/serving.ts";
import { expandServings } from "../../src/domain/ledger/journal/serving-columns.ts";
import { type EventStore, eventTime, type RecordedEvent } from "../../src/eventstore/event-store.ts";

/** The content of one event of a journal. */
export interface JournalEntries {
  readonly revision: number;
  readonly position: number;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** SHA-256 (hex) of the event's canonical form. Calculated on access. */
  readonly digest: string;
  readonly servings: readonly Serving[];
  readonly voided: readonly VoidedServing[];
  readonly streams: readonly StreamEnd[];
  /** True for `JournalClosed`. */
  readonly closed: boolean;
  /** The revision of `JournalPosted`. */
  readonly postedThrough?: number;
}

/**
 * The journal's events in order.
 * @throws {EventStoreUnavailable}
 */
export async function* readJournal(
  store: EventStore,
  journal: string,
  options: { readonly fromInclusive?: number; readonly signal?: AbortSignal } = {},
): AsyncGenerator<JournalEntries, void, undefined> {
  for await (const event of store.readStream(journalStream(journal), options)) yield entriesOf(event);
}

/** Events of unknown types have no entries. */
export const entriesOf = (recorded: RecordedEvent): JournalEntries => {
  const event = recorded as unknown as JournalEvent;
  return {
    revision: recorded.revision,
    position: recorded.position,
    at: eventTime(recorded),
    get digest() {
      return eventDigest(recorded);
    },
    servings: event.type === "SynthesesServed" ? expandServings(event.data) : [],
    voided: event.type === "ServingsVoided" ? event.data.servings : [],
    streams: event.type === "StreamsEnded" ? event.data.streams : [],
    closed: event.type === "JournalClosed",
    ...(event.type === "JournalPosted" && { postedThrough: event.data.through }),
  };
};
