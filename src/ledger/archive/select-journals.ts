import pLimit from "p-limit";
import { isOfType } from "../../domain/event-shapes.ts";
import type { JournalsArchivedEvent } from "../../domain/ledger/archive/journals-archived.ts";
import { eventDigest } from "../../domain/ledger/journal/canonical.ts";
import { journalStream } from "../../domain/ledger/journal/journal.ts";
import {
  type JournalRegistryEvent,
  journalRegistryStream,
} from "../../domain/ledger/journal/journal-registry.ts";
import { startOfMonth } from "../../domain/ledger/month.ts";
import { byJournal, type JournalHead, type SealEvent, sealsStream } from "../../domain/ledger/seals/seal.ts";
import type { EpochMs } from "../../domain/time.ts";
import {
  type EventStore,
  eventTime,
  type RecordedEvent,
  readEvent,
  readLastEvent,
} from "../../eventstore/event-store.ts";
import { readCorrections } from "../journal/clock-corrections.ts";
import { readJournalEnd } from "../journal/journal-reader.ts";

export interface ArchivableJournals {
  /** The last event of each journal, as the seals list it, in the order of names. */
  readonly heads: readonly JournalHead[];
  /** The position of an event that precedes all events of the journals. */
  readonly fromExclusive: number;
  /** The position of their last event. */
  readonly toInclusive: number;
  /** The number of journals that qualify too, beyond the maximum. */
  readonly remaining: number;
}

interface SelectOptions {
  /** `yyyy-mm`. */
  readonly before: string;
  readonly now: EpochMs;
  /** The position up to which the last seal covers the log. */
  readonly sealedUpTo: number;
  /** The maximum number of journals. */
  readonly max: number;
  /** Selects only these journals. Default: all. */
  readonly only?: ReadonlySet<string> | undefined;
}

/** Each journal takes two to four reads: 5,000 journals some seconds. */
const maxConcurrentReads = 8;

/** Views and figures by day look back 63 days. Reservations and closings look back two months. */
const minAgeMs = 90 * 24 * 60 * 60_000;

/**
 * Selects the oldest journals whose last event precedes the month and is older than 90 days. They
 * are closed, posted and retired, and a seal covers all of their events. Left out are journals that
 * an archive has, and those that a correction of a clock names, because reports read them.
 * @throws {EventStoreUnavailable}
 * @throws if a journal is damaged
 */
export const selectJournals = async (
  store: EventStore,
  { before, now, sealedUpTo, max, only }: SelectOptions,
): Promise<ArchivableJournals> => {
  const end = Math.min(startOfMonth(before), now - minAgeMs);
  const sealed = await readSealedHeads(store);
  const retired = [...(await retiredJournals(store, sealedUpTo))].filter(
    ([journal]) => only?.has(journal) ?? true,
  );
  const found = await pLimit(maxConcurrentReads).map(retired, ([journal, opened]) =>
    readCandidate(store, { journal, opened, end }),
  );
  const candidates = found.filter((one) => one !== undefined).sort((a, b) => a.last - b.last);
  const selected = candidates.slice(0, max);
  return {
    heads: selected.map((one) => requireSealed(one, sealed.get(one.journal))).sort(byJournal),
    fromExclusive: Math.min(...selected.map(({ opened }) => opened)),
    toInclusive: Math.max(...selected.map(({ last }) => last)),
    remaining: candidates.length - selected.length,
  };
};

/**
 * The journals that had left the registry when the log was sealed: no later seal lists them.
 * Without archived and corrected ones. Returns the positions of their registrations.
 */
const retiredJournals = async (
  store: EventStore,
  sealedUpTo: number,
): Promise<ReadonlyMap<string, number>> => {
  const opened = new Map<string, number>();
  const retired = new Set<string>();
  const kept = new Set<string>();
  for await (const event of store.readStream(journalRegistryStream)) {
    if (isOfType<JournalRegistryEvent, RecordedEvent>(event, ["JournalOpened", "JournalRetired"])) {
      const { type, position, data } = event;
      if (type === "JournalOpened") opened.set(data.journal, position);
      else if (position <= sealedUpTo) retired.add(data.journal);
    } else if (isOfType<JournalsArchivedEvent, RecordedEvent>(event, ["JournalsArchived"])) {
      for (const journal of event.data.journals) kept.add(journal);
    }
  }
  for (const { data } of await readCorrections(store))
    for (const { journal } of data.journals) kept.add(journal);
  return new Map([...opened].filter(([journal]) => retired.has(journal) && !kept.has(journal)));
};

interface Candidate extends Pick<JournalHead, "journal" | "revision" | "digest"> {
  /** The positions of the registration and of the last event. */
  readonly opened: number;
  readonly last: number;
}

/** Undefined unless the journal has events, is closed, and ended before the time. */
const readCandidate = async (
  store: EventStore,
  { journal, opened, end }: { readonly journal: string; readonly opened: number; readonly end: EpochMs },
): Promise<Candidate | undefined> => {
  const stream = journalStream(journal);
  const last = await readLastEvent(store, stream);
  const isOld = last !== undefined && Math.max(Date.parse(eventTime(last)), last.created) < end;
  if (!isOld) return undefined;
  if (!(await readJournalEnd(store, journal))?.closed) return undefined;
  const first = await readEvent(store, stream);
  if (first?.revision !== 0) throw new Error(`${stream} lacks its first event: run voxledger audit verify`);
  const { revision, position } = last;
  return { journal, revision, digest: eventDigest(last), opened, last: position };
};

/** The last event of each journal that the seals list. */
export const readSealedHeads = async (store: EventStore): Promise<ReadonlyMap<string, JournalHead>> => {
  const heads = new Map<string, JournalHead>();
  for await (const event of store.readStream(sealsStream)) {
    if (!isOfType<SealEvent, RecordedEvent>(event, ["Sealed"])) continue;
    for (const head of event.data.journals) heads.set(head.journal, head);
  }
  return heads;
};

const requireSealed = (
  { journal, revision, digest }: Candidate,
  head: JournalHead | undefined,
): JournalHead => {
  if (head?.revision === revision && head.digest === digest) return head;
  throw new Error(`no seal covers the end of ${journalStream(journal)}: run voxledger audit verify`);
};
