import { journalStream } from "../../domain/ledger/journal/journal.ts";
import { type EventStore, readEvent } from "../../eventstore/event-store.ts";
import { readJournalRegistry } from "./journal-registry.ts";

export interface LedgerEndOptions {
  /** Further streams. */
  readonly streams?: readonly string[];
  /** Leaves out these journals. Asked after the registry is read. */
  readonly isLeftOut?: (stream: string) => boolean;
}

/**
 * The position of the last event of the registry, the open journals and further streams. All events
 * up to it are readable: what is read as of this position has no gaps, whatever is appended in the
 * meantime.
 * @throws {EventStoreUnavailable}
 */
export const readLedgerEnd = async (
  store: EventStore,
  { streams = [], isLeftOut = () => false }: LedgerEndOptions = {},
): Promise<number> => {
  const registry = await readJournalRegistry(store);
  const journals = registry?.state.map(journalStream).filter((stream) => !isLeftOut(stream)) ?? [];
  const ends = await Promise.all([...journals, ...streams].map((stream) => readEnd(store, stream)));
  return Math.max(0, registry?.position ?? 0, ...ends);
};

const readEnd = async (store: EventStore, stream: string): Promise<number> =>
  (await readEvent(store, stream, { direction: "backwards" }))?.position ?? 0;
