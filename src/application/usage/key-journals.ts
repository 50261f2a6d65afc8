import pLimit from "p-limit";
import { isWellFormed } from "../../domain/event-shapes.ts";
import { journalStream } from "../../domain/ledger/journal.ts";
import type { UsagePosted } from "../../domain/ledger/usage-accounts/usage-account.ts";
import { type EventStore, type RecordedEvent, readEvent } from "../../eventstore/event-store.ts";
import { readPostedMark } from "../ledger/journal/journal-reader.ts";
import { listOpenJournals } from "../ledger/journal/journal-registry.ts";
import { openEnd, type Range, rangesIn, uniteRanges } from "../ledger/usage-accounts/revision-ranges.ts";
import { cursorOf, type EventCursor } from "./events/event-cursor.ts";
import { eventTime } from "./events/event-time.ts";

const maxConcurrentReads = 8;

/**
 * By journal, the revisions that may hold entries of the key: those that its accounts name, and the unposted tails of open
 * journals. `starts`: the accounts, and the revisions from which on they are read. Ranges overlap if several accounts name them.
 */
export const journalRanges = async (
  store: EventStore,
  starts: readonly { readonly stream: string; readonly revision: number }[],
  { since, signal }: { readonly since: number | undefined; readonly signal: AbortSignal | undefined },
): Promise<ReadonlyMap<string, Range[]>> => {
  const ranges = new Map<string, Range[]>();
  const rangesOf = (journal: string): Range[] => {
    const known = ranges.get(journal) ?? [];
    ranges.set(journal, known);
    return known;
  };
  // The marks before the accounts: what is posted in between is in both.
  for (const journal of await listOpenJournals(store)) {
    rangesOf(journal).push([(await readPostedMark(store, journal)) + 1, openEnd]);
  }
  for (const { stream, revision } of starts) {
    for await (const event of store.readStream(stream, { from: revision, ...(signal && { signal }) })) {
      if (event.type !== "UsagePosted" || !isWellFormed(event)) continue;
      const { journal, ranges: posted, until } = event.data as UsagePosted;
      if (since !== undefined && Date.parse(until) < since) continue;
      for (const range of rangesIn(posted)) rangesOf(journal).push(range);
    }
  }
  return ranges;
};

/** A cursor for each journal. Reads each revision of the ranges once. */
export const readRanges = (
  store: EventStore,
  ranges: ReadonlyMap<string, Range[]>,
  { until, signal }: { readonly until: number | undefined; readonly signal: AbortSignal | undefined },
): Promise<EventCursor[]> => {
  async function* read(journal: string, parts: readonly Range[]): AsyncGenerator<RecordedEvent> {
    for (const [from, last] of parts) {
      if (last < from) continue;
      const options = { from, ...(last < openEnd && { limit: last - from + 1 }), ...(signal && { signal }) };
      for await (const event of store.readStream(journalStream(journal), options)) {
        // Times never go backwards within a journal.
        if (until !== undefined && Date.parse(eventTime(event)) >= until) return;
        yield event;
      }
    }
  }
  return pLimit(maxConcurrentReads).map(ranges, async ([journal, overlapping]) => {
    const parts = uniteRanges(overlapping);
    const [first] = parts;
    const head = first && (await readEvent(store, journalStream(journal), { from: first[0] }));
    return cursorOf(head, () => read(journal, first ? [[first[0] + 1, first[1]], ...parts.slice(1)] : []));
  });
};
