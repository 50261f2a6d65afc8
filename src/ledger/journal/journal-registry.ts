import { isoClock } from "../../async/iso-clock.ts";
import { isWellFormed } from "../../domain/event-shapes.ts";
import { journalStream } from "../../domain/ledger/journal/journal.ts";
import {
  forgetJournal,
  type JournalRegistryEvent,
  journalRegistryDecider,
  journalRegistryStream,
  type OpenJournals,
  openJournal,
} from "../../domain/ledger/journal/journal-registry.ts";
import type { EpochMs } from "../../domain/time.ts";
import type { CommandHandler, StreamSnapshot } from "../../eventstore/command-handler.ts";
import { type EventStore, type RecordedEvent, readLastEvent } from "../../eventstore/event-store.ts";

/** The registry of the installation's journals. Both commands are idempotent. */
export interface JournalRegistry {
  /**
   * Call it before the journal's first event. Resolves with a log position at or after the
   * registration.
   * @throws {Unavailable}
   */
  open(journal: string): Promise<number>;
  /**
   * Call it when the journal is closed and fully posted.
   * @throws {Unavailable}
   */
  forget(journal: string): Promise<void>;
}

export const createJournalRegistry = (
  handler: Pick<CommandHandler, "execute">,
  clock: () => EpochMs,
): JournalRegistry => {
  const now = isoClock(clock);
  const execute = (decide: (open: OpenJournals, at: string) => JournalRegistryEvent[]) =>
    handler.execute(journalRegistryDecider, journalRegistryStream, (open) => decide(open, now()), {
      actor: "system",
    });
  return {
    open: async (journal) => (await execute((open, at) => openJournal(open, journal, at))).position,
    forget: async (journal) => {
      await execute((open, at) => forgetJournal(open, journal, at));
    },
  };
};

/**
 * Yields the registry's events, the last one first, without malformed ones and those of other
 * programs.
 */
export async function* readRegistryBackwards(
  store: EventStore,
  options: { readonly limit?: number } = {},
): AsyncGenerator<RecordedEvent & JournalRegistryEvent, void, undefined> {
  for await (const event of store.readStream(journalRegistryStream, { direction: "backwards", ...options })) {
    if (isJournalsEvent(event)) yield event;
  }
}

const isJournalsEvent = (event: RecordedEvent): event is RecordedEvent & JournalRegistryEvent =>
  (event.type === "JournalOpened" || event.type === "JournalRetired") && isWellFormed(event);

/**
 * Reads the registry's state from its last event.
 * @throws {EventStoreUnavailable}
 */
export const readJournalRegistry = async (
  store: EventStore,
): Promise<StreamSnapshot<OpenJournals> | undefined> => {
  // More is read only if the last event names an archive, is malformed, or another program's.
  for (const options of [{ limit: 1 }, { limit: 4 }, {}]) {
    for await (const { data, revision, position } of readRegistryBackwards(store, options)) {
      return { state: data.open, revision, position };
    }
  }
  return undefined;
};

/** Reads only the registry's last event: it lists all open journals. */
export const readRegistrySnapshot =
  (store: EventStore) =>
  async (stream: string): Promise<StreamSnapshot | undefined> =>
    stream === journalRegistryStream ? await readJournalRegistry(store) : undefined;

/**
 * The journals that are in the registry, now or as of a log position.
 * @throws {EventStoreUnavailable}
 */
export const listOpenJournals = async (
  store: EventStore,
  asOfPosition = Number.POSITIVE_INFINITY,
): Promise<OpenJournals> => {
  const last = await readJournalRegistry(store);
  if (!last || last.position <= asOfPosition) return last?.state ?? [];
  for await (const { data, position } of readRegistryBackwards(store)) {
    if (position <= asOfPosition) return data.open;
  }
  return [];
};

/**
 * Lists the journals that were open at the last event for which `isEarlier` is true, or were opened
 * later. Events after the position `upTo` are ignored.
 * @throws {EventStoreUnavailable}
 */
export const journalsSince = async (
  store: EventStore,
  isEarlier: (event: RecordedEvent & JournalRegistryEvent) => boolean,
  upTo = Number.POSITIVE_INFINITY,
): Promise<Set<string>> => {
  const journals = new Set<string>();
  for await (const event of readRegistryBackwards(store)) {
    if (event.position > upTo) continue;
    for (const journal of event.data.open) journals.add(journal);
    if (isEarlier(event)) break;
    journals.add(event.data.journal);
  }
  return journals;
};

interface LedgerEndOptions {
  /** Further streams. */
  readonly streams?: readonly string[];
  /** Returns true for journals to leave out. It is called after the registry is read. */
  readonly isLeftOut?: (stream: string) => boolean;
}

/**
 * Reads the last events of the registry, the open journals and further streams. Resolves with the
 * highest of their positions; -1 without any. All events up to it are readable, so a read up to
 * this position has no gaps, even if events are appended in the meantime.
 * @throws {EventStoreUnavailable}
 */
export const readLedgerEnd = async (
  store: EventStore,
  { streams = [], isLeftOut = () => false }: LedgerEndOptions = {},
): Promise<number> => {
  const registry = await readJournalRegistry(store);
  const journals = registry?.state.map(journalStream).filter((stream) => !isLeftOut(stream)) ?? [];
  const ends = await Promise.all([...journals, ...streams].map((stream) => readEnd(store, stream)));
  return Math.max(registry?.position ?? -1, ...ends);
};

const readEnd = async (store: EventStore, stream: string): Promise<number> =>
  (await readLastEvent(store, stream))?.position ?? -1;
