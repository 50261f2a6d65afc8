import { eventDigest } from "../../domain/ledger/journal/canonical.ts";
import { journalPrefix, journalStream } from "../../domain/ledger/journal/journal.ts";
import { recogniseForeign } from "../../domain/ledger/proof/foreign-events.ts";
import {
  byJournal,
  envelopeDigest,
  isCovered,
  isSealed,
  type JournalHead,
  sealedPrefixes,
  sealsStream,
} from "../../domain/ledger/seals/seal.ts";
import type { EventStore, RecordedEvent } from "../../eventstore/event-store.ts";
import { readLog } from "../../eventstore/follow-events.ts";
import { journalsSince } from "../journal/journal-registry.ts";

/**
 * Yields the events of the sealed streams after a position, up to the current end of the log, in
 * order. With `journals`, the events of journals are included, except those of other programs.
 * @throws {EventStoreUnavailable}
 * @throws the signal's reason
 */
export async function* readSealedEvents(
  store: EventStore,
  {
    fromExclusive = -1,
    journals = false,
    signal,
  }: {
    readonly fromExclusive?: number;
    readonly journals?: boolean;
    readonly signal?: AbortSignal | undefined;
  } = {},
): AsyncGenerator<RecordedEvent, void, undefined> {
  const prefixes = journals ? [...sealedPrefixes, journalPrefix] : sealedPrefixes;
  const included = journals ? await coveredEvents(store) : ({ stream }: RecordedEvent) => isSealed(stream);
  const options = { prefixes, ...(fromExclusive >= 0 && { fromExclusive }), ...(signal && { signal }) };
  for await (const event of readLog(store, options)) if (included(event)) yield event;
}

/**
 * Returns a function that says whether an event is covered. It reads the whole registry, so that an
 * own journal that the registry names only later is not taken for another program's.
 */
const coveredEvents = async (store: EventStore): Promise<(event: RecordedEvent) => boolean> => {
  const registered = await journalsSince(store, () => false);
  const isRegistered = (journal: string): boolean => registered.has(journal);
  return (event) => isCovered(event.stream) && recogniseForeign(event, isRegistered) !== "journal";
};

/**
 * Reads the last event of the stream `seals` that is not another program's. It may be malformed.
 * @throws {EventStoreUnavailable}
 */
export const readLastSealEvent = async (
  store: Pick<EventStore, "readStream">,
): Promise<RecordedEvent | undefined> => {
  // A page of the stream is read only if the last event is another program's.
  for (const options of [{ limit: 1 }, {}]) {
    for await (const event of store.readStream(sealsStream, { direction: "backwards", ...options })) {
      if (recogniseForeign(event, () => false) === undefined) return event;
    }
  }
  return undefined;
};

interface HeadsSinceSeal {
  /** The position and the heads of the last seal. */
  readonly fromExclusive: number;
  readonly known: readonly JournalHead[];
  readonly upTo: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * For each journal that was open at the position `fromExclusive` or opened since, reads the last
 * event up to the position `upTo`. Only events after the known heads are read.
 * @throws {EventStoreUnavailable}
 * @throws the signal's reason
 */
export const readJournalHeads = async (
  store: EventStore,
  { fromExclusive, known, upTo, signal }: HeadsSinceSeal,
): Promise<JournalHead[]> => {
  const heads: JournalHead[] = [];
  for (const journal of await journalsSince(store, ({ position }) => position <= fromExclusive, upTo)) {
    const before = known.find((head) => head.journal === journal && head.envelopes !== undefined);
    const options = { fromInclusive: (before?.revision ?? -1) + 1, ...(signal && { signal }) };
    let envelopes = before?.envelopes ?? null;
    let last: RecordedEvent | undefined;
    for await (const event of store.readStream(journalStream(journal), options)) {
      if (event.position > upTo) break;
      envelopes = envelopeDigest(envelopes, event);
      last = event;
    }
    if (last && envelopes)
      heads.push({ journal, revision: last.revision, digest: eventDigest(last), envelopes });
    else if (before) heads.push(before);
  }
  return heads.sort(byJournal);
};
