import pLimit from "p-limit";
import { Archived, type ArchivedPart } from "../../domain/errors.ts";
import { isOfType } from "../../domain/event-shapes.ts";
import type { JournalsArchivedEvent } from "../../domain/ledger/archive/journals-archived.ts";
import { journalStream } from "../../domain/ledger/journal/journal.ts";
import {
  type JournalRegistryEvent,
  journalRegistryStream,
} from "../../domain/ledger/journal/journal-registry.ts";
import { monthOf, monthsBetween } from "../../domain/ledger/month.ts";
import type { EpochMs } from "../../domain/time.ts";
import { type EventStore, eventTime, type RecordedEvent, readEvent } from "../../eventstore/event-store.ts";

/** Selects journals that may have events of this period, and between these positions. */
export interface JournalSelection {
  /** The beginning of the names of their streams. */
  readonly stream?: string | undefined;
  /** The names of their streams. Default: all. */
  readonly streams?: ReadonlySet<string> | undefined;
  readonly fromPosition?: number | undefined;
  /** Inclusive, as `fromPosition` is. */
  readonly toPosition?: number | undefined;
  readonly fromInclusive?: EpochMs | undefined;
  readonly toExclusive?: EpochMs | undefined;
}

/** Finds archived journals whose events are no longer in the log. */
export interface MissingJournals {
  /**
   * Events that are missing stay missing: a call after a read proves that the read was complete.
   * @throws {Archived} if the log lacks events of selected journals
   * @throws {EventStoreUnavailable}
   */
  requireNone(selection: JournalSelection): Promise<void>;
}

interface Registered {
  readonly position: number;
  readonly at: string;
}

interface Archive extends Registered {
  readonly file: string;
  readonly journals: readonly string[];
}

/** The missing events lie between the registration and a later event that the log has. */
interface MissingJournal {
  readonly opened: Registered;
  readonly end: Registered;
}

/**
 * The time of an event may be this much earlier than that of its journal's registration, or later
 * than that of its retirement.
 */
const timeToleranceMs = 5 * 60_000;
/** An archived journal ended 90 days before its archive was begun. */
const minAgeMs = 89 * 24 * 60 * 60_000;
const maxConcurrentReads = 8;

/** `store`: of the registry, it reads only new events at each call. */
export const createMissingJournals = (store: Pick<EventStore, "readStream">): MissingJournals => {
  const opened = new Map<string, Registered>();
  const retired = new Map<string, Registered>();
  const archives: Archive[] = [];
  const missing = new Map<string, MissingJournal>();
  let next = 0;

  const readRegistry = async (): Promise<void> => {
    for await (const event of store.readStream(journalRegistryStream, { fromInclusive: next })) {
      if (event.revision < next) continue; // a concurrent call has read it
      next = event.revision + 1;
      const { position } = event;
      if (isOfType<JournalRegistryEvent, RecordedEvent>(event, ["JournalOpened", "JournalRetired"])) {
        const { journal, at } = event.data;
        (event.type === "JournalOpened" ? opened : retired).set(journal, { position, at });
      } else if (isOfType<JournalsArchivedEvent, RecordedEvent>(event, ["JournalsArchived"])) {
        const { file, journals, at } = event.data;
        archives.push({ file, journals, position, at });
      }
    }
  };

  const find = async (journal: string, archive: Archive): Promise<MissingJournal | undefined> => {
    const first = await readEvent(store, journalStream(journal));
    if (first?.revision === 0) return undefined;
    const left = first && { position: first.position, at: eventTime(first) };
    const end = left ?? retired.get(journal) ?? archive;
    return { opened: opened.get(journal) ?? { position: -1, at: end.at }, end };
  };

  const missingMonths = async (archive: Archive, selection: JournalSelection): Promise<string[][]> => {
    const limit = pLimit(maxConcurrentReads);
    const candidates = archive.journals.filter((journal) =>
      mayHave({ journal, opened: opened.get(journal), retired: retired.get(journal) }, selection),
    );
    const found = await limit.map(candidates, async (journal) => {
      const one = missing.get(journal) ?? (await find(journal, archive));
      if (one) missing.set(journal, one);
      return one && lacksSelected(one, selection) ? monthsOf(one) : [];
    });
    return found.filter((ofJournal) => ofJournal.length > 0);
  };

  return {
    requireNone: async (selection) => {
      await readRegistry();
      const parts: ArchivedPart[] = [];
      for (const archive of archives.filter((one) => isReached(one, selection))) {
        const found = await missingMonths(archive, selection);
        const { file } = archive;
        if (found.length > 0)
          parts.push({ file, journals: found.length, months: [...new Set(found.flat())].sort() });
      }
      if (parts.length > 0) throw new Archived(parts);
    },
  };
};

const isReached = (
  { position, at }: Archive,
  { fromPosition = 0, fromInclusive = Number.NEGATIVE_INFINITY }: JournalSelection,
): boolean => fromPosition < position && !(Date.parse(at) - minAgeMs < fromInclusive);

interface KnownJournal {
  readonly journal: string;
  readonly opened: Registered | undefined;
  /** After all of its events. */
  readonly retired: Registered | undefined;
}

/** Says without a read whether the journal may have selected events. */
const mayHave = (
  { journal, opened, retired }: KnownJournal,
  {
    stream = "",
    streams,
    fromPosition = 0,
    toPosition = Number.POSITIVE_INFINITY,
    fromInclusive = Number.NEGATIVE_INFINITY,
    toExclusive = Number.POSITIVE_INFINITY,
  }: JournalSelection,
): boolean =>
  journalStream(journal).startsWith(stream) &&
  (streams?.has(journalStream(journal)) ?? true) &&
  (opened === undefined ||
    (opened.position < toPosition && Date.parse(opened.at) - timeToleranceMs < toExclusive)) &&
  (retired === undefined ||
    (fromPosition < retired.position && !(Date.parse(retired.at) + timeToleranceMs < fromInclusive)));

/** Times never go backwards within a journal. */
const lacksSelected = (
  { end }: MissingJournal,
  { fromPosition = 0, fromInclusive = Number.NEGATIVE_INFINITY }: JournalSelection,
): boolean => fromPosition < end.position && !(Date.parse(end.at) < fromInclusive);

const monthsOf = ({ opened, end }: MissingJournal): string[] => {
  const [first, last] = [monthOf(opened.at), monthOf(end.at)];
  return first <= last ? monthsBetween(first, last) : [last];
};

/**
 * Call it if reads of these journals lack events.
 * @throws {Archived} if they were archived, and the selection has some of them
 * @throws {EventStoreUnavailable}
 */
export const requireNotArchived = (
  store: Pick<EventStore, "readStream">,
  streams: readonly string[],
  selection: Pick<JournalSelection, "toPosition" | "toExclusive"> = {},
): Promise<void> => createMissingJournals(store).requireNone({ ...selection, streams: new Set(streams) });
