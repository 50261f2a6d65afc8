import pLimit from "p-limit";
import { journalPrefix } from "../../domain/ledger/journal/journal.ts";
import { journalRegistryStream } from "../../domain/ledger/journal/journal-registry.ts";
import type { EventStore, RecordedEvent } from "../../eventstore/event-store.ts";
import { listOpenJournals } from "../journal/journal-registry.ts";

/** Another program may have any number of streams whose names begin like those of journals. */
const maxCounted = 1_000;

/**
 * Counts the journals with new events that the registry does not name: they are another program's,
 * and nothing of this service reads them.
 */
export const createForeignJournals = (store: EventStore, onError: (what: string, error: unknown) => void) => {
  const registered = new Set<string>();
  const foreign = new Set<string>();
  const checking = new Set<string>();
  const limit = pLimit(1);

  /** A journal is in the registry before its first event, and until its last one. */
  const check = async (journal: string, position: number): Promise<void> => {
    try {
      for (const open of await listOpenJournals(store, position)) registered.add(open);
      if (!registered.has(journal)) foreign.add(journal);
    } catch (error) {
      onError(`the registry of journals cannot be compared with the journal ${journal}`, error);
    } finally {
      checking.delete(journal);
    }
  };

  return {
    /** Receives the events of journals, and those of the registry, in order. */
    follow: (events: readonly RecordedEvent[]): void => {
      for (const { stream, type, data, position } of events) {
        if (stream === journalRegistryStream && type === "JournalOpened")
          registered.add((data as { readonly journal: string }).journal);
        if (!stream.startsWith(journalPrefix)) continue;
        const journal = stream.slice(journalPrefix.length);
        const isKnown = [registered, foreign, checking].some((known) => known.has(journal));
        if (isKnown || foreign.size + checking.size >= maxCounted) continue;
        checking.add(journal);
        void limit(() => check(journal, position));
      }
    },
    count: (): number => foreign.size,
  };
};
