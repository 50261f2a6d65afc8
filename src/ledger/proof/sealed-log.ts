import { eventDigest } from "../../domain/ledger/journal/canonical.ts";
import { journalPrefix, journalStream } from "../../domain/ledger/journal/journal.ts";
import {
  byJournal,
  envelopeDigest,
  isCovered,
  isSealed,
  type JournalHead,
  sealedPrefixes,
} from "../../domain/ledger/seals/seal.ts";
import type { EventStore, RecordedEvent } from "../../eventstore/event-store.ts";
import { readLog } from "../../eventstore/follow-events.ts";
import { journalsSince } from "../journal/journal-registry.ts";

/**
 * Yields the events of the sealed streams after a position, up to the current end of the log, in
 * order. With `journals`, the events of journals are included.
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
  const included = journals ? isCovered : isSealed;
  const options = { prefixes, ...(fromExclusive >= 0 && { fromExclusive }), ...(signal && { signal }) };
  for await (const event of readLog(store, options)) if (included(event.stream)) yield event;
}

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
