import { inTimeSlices } from "../../async/time-slices.ts";
import { isOfType } from "../../domain/event-shapes.ts";
import { eventDigest } from "../../domain/ledger/journal/canonical.ts";
import { journalPrefix, journalStream } from "../../domain/ledger/journal/journal.ts";
import {
  type JournalRegistryEvent,
  journalRegistryStream,
} from "../../domain/ledger/journal/journal-registry.ts";
import {
  byJournal,
  envelopeDigest,
  isCovered,
  isSealed,
  type JournalHead,
  sealedPrefixes,
} from "../../domain/ledger/seals/seal.ts";
import {
  type EventStore,
  EventStoreUnavailable,
  type RecordedEvent,
  type SubscribeOptions,
} from "../../eventstore/event-store.ts";

/**
 * The events of the sealed streams after a position, up to the current end of the log, in order;
 * with `journals` also those of the journals.
 * @throws {EventStoreUnavailable} @throws the signal's reason
 */
export async function* readSealedEvents(
  store: EventStore,
  {
    after = -1,
    journals = false,
    signal,
  }: { readonly after?: number; readonly journals?: boolean; readonly signal?: AbortSignal | undefined } = {},
): AsyncGenerator<RecordedEvent, void, undefined> {
  const prefixes = journals ? [...sealedPrefixes, journalPrefix] : sealedPrefixes;
  const included = journals ? isCovered : isSealed;
  const options = { prefixes, ...(after >= 0 && { after }), ...(signal && { signal }) };
  for await (const event of readLog(store, options)) if (included(event.stream)) yield event;
}

/**
 * The events up to the current end of the log.
 * @throws {EventStoreUnavailable} @throws the signal's reason
 */
export async function* readLog(
  store: EventStore,
  options: SubscribeOptions = {},
): AsyncGenerator<RecordedEvent, void, undefined> {
  const { signal } = options;
  for await (const { events, caughtUp } of store.subscribe(options)) {
    yield* inTimeSlices(events, signal);
    if (caughtUp) return;
  }
  signal?.throwIfAborted();
  throw new EventStoreUnavailable("the subscription ended before the end of the log");
}

/** The last event of a stream, up to a position. @throws {EventStoreUnavailable} */
export const lastEvent = async (
  store: EventStore,
  stream: string,
  upTo = Number.POSITIVE_INFINITY,
): Promise<RecordedEvent | undefined> => {
  let from: number | undefined;
  for (let limit = 1; from === undefined || from >= 0; limit *= 8) {
    const before = from;
    const options = { direction: "backwards", limit, ...(from !== undefined && { from }) } as const;
    for await (const event of store.readStream(stream, options)) {
      if (event.position <= upTo) return event;
      from = event.revision - 1;
    }
    if (from === before) return undefined;
  }
  return undefined;
};

export interface HeadsSinceSeal {
  /** The position and the heads of the last seal. */
  readonly after: number;
  readonly known: readonly JournalHead[];
  readonly upTo: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The last events, up to the position `upTo`, of the journals that were open at the position
 * `after` or opened since. Reads what follows the known heads.
 * @throws {EventStoreUnavailable} @throws the signal's reason
 */
export const readJournalHeads = async (
  store: EventStore,
  { after, known, upTo, signal }: HeadsSinceSeal,
): Promise<JournalHead[]> => {
  const heads: JournalHead[] = [];
  for (const journal of await journalsSince(store, after, upTo)) {
    const before = known.find((head) => head.journal === journal && head.envelopes !== undefined);
    const options = { from: (before?.revision ?? -1) + 1, ...(signal && { signal }) };
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

const journalsSince = async (store: EventStore, after: number, upTo: number): Promise<Set<string>> => {
  const journals = new Set<string>();
  for await (const event of store.readStream(journalRegistryStream, { direction: "backwards" })) {
    if (event.position > upTo || !isJournalsEvent(event)) continue;
    if (event.position <= after) {
      for (const journal of event.data.open) journals.add(journal);
      break;
    }
    if (event.type === "JournalOpened") journals.add(event.data.journal);
  }
  return journals;
};

/**
 * A recent position: no read that starts later misses an event before it.
 * @throws {EventStoreUnavailable}
 */
export const readablePosition = async (store: EventStore): Promise<number> => {
  const registry = await lastEvent(store, journalRegistryStream);
  if (!registry) return -1;
  const open = isJournalsEvent(registry) ? registry.data.open : [];
  const ends = await Promise.all(open.map((journal) => lastEvent(store, journalStream(journal))));
  return Math.max(registry.position, ...ends.map((end) => end?.position ?? -1));
};

const isJournalsEvent = (event: RecordedEvent): event is RecordedEvent & JournalRegistryEvent =>
  isOfType<JournalRegistryEvent, RecordedEvent>(event, ["JournalOpened", "JournalRetired"]);
