import pLimit from "p-limit";
import { lazy } from "../../async/lazy.ts";
import { systemTime, type Time } from "../../async/time.ts";
import { isWellFormed } from "../../domain/event-shapes.ts";
import { type Range, rangesIn } from "../../domain/ledger/accounts/revision-ranges.ts";
import {
  type AccountId,
  type UsageCount,
  type UsagePosted,
  usageAccountStream,
} from "../../domain/ledger/accounts/usage-account.ts";
import { type JournalEvent, journalStream } from "../../domain/ledger/journal/journal.ts";
import { type EventStore, readEvent } from "../../eventstore/event-store.ts";
import { readUntil } from "../../eventstore/read-until.ts";
import { readPostedUpTo } from "../journal/journal-reader.ts";
import { listOpenJournals, readLedgerEnd } from "../journal/journal-registry.ts";
import { JournalPart, type NeededBy, SelectedAccounts } from "./journal-part.ts";
import type { KnownEntries, KnownPart, KnownSnapshot, KnownTotals } from "./known-entries.ts";
import { type AsOf, isWithin, readRanges, requirePlanned } from "./read-ranges.ts";

/**
 * The part of a posting that is needed: its `sums`; the `balance` of the account after it, which
 * makes earlier postings unnecessary; the `entries` that it sums up; or `nothing`. `end`: neither
 * this posting nor an earlier one is needed.
 */
export type Use = "sums" | "balance" | "entries" | "nothing" | "end";

/** The sums of a posting, or those of entries that no posting sums up. */
export type Sums = Pick<UsagePosted, "requests" | "characters" | "voided" | "cells" | "until">;

export interface SummedUp {
  readonly sums: Sums;
  /** The time of the posting, or of the last entry if there is no posting. */
  readonly at: string;
  /** The log position of the posting; infinity without one. */
  readonly position: number;
  /** True if `asOf` includes all of its entries. */
  readonly isWhole: boolean;
}

export interface ChargesRequest {
  readonly asOf?: AsOf | undefined;
  /** Selects only the entries of this journal. */
  readonly journal?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * Called with the postings of each account, the latest one first, then with the unposted entries.
   * Default: the sums if all entries are included, else the entries. Unposted entries have no
   * balance: their sums are used instead.
   */
  readonly useOf?: (summedUp: SummedUp, account: AccountId) => Use;
  readonly onSums?: (sums: Sums, account: AccountId, journal: string) => void;
  readonly onBalance?: (balance: UsageCount, account: AccountId) => void;
}

interface ChargesConsumer extends ChargesRequest {
  /** Called with events of journals, those of each journal in order. */
  readonly onEvent: (event: JournalEvent, neededBy: NeededBy, journal: string) => void;
}

export interface ChargesReading {
  /** The log can be read without gaps up to this position. */
  readonly end: number;
  /**
   * Reads each charge of the accounts once, from a sum or from the journal's event, even if entries
   * are posted in the meantime. Each event of a journal is read at most once for all accounts.
   * @throws {EventStoreUnavailable}
   */
  read(consumer: ChargesConsumer): Promise<void>;
  /**
   * Reads the accounts, and returns which events of journals are needed.
   * @throws {EventStoreUnavailable}
   */
  plan(request: ChargesRequest): Promise<ReadonlyMap<string, JournalPart>>;
}

export interface ChargesSource {
  readonly store: EventStore;
  /** The unposted entries in memory. If absent, they are read from the journals. */
  readonly known?: KnownEntries | undefined;
  readonly time?: Time;
}

const maxConcurrentReads = 8;

/**
 * Begins to read the charges of accounts. `streams`: further streams. The `end` of the result is
 * not before their last events.
 * @throws {EventStoreUnavailable}
 */
export const beginCharges = async (
  { store, known, time = systemTime }: ChargesSource,
  accounts: readonly AccountId[],
  streams: readonly string[] = [],
): Promise<ChargesReading> => {
  const selected = new SelectedAccounts(accounts);
  const snapshot = await known?.snapshot(selected.all);
  const { account, position = -1 } = snapshot ?? {};
  const posted = account ? [usageAccountStream(account.apiKey, account.month)] : [];
  // Postings up to the snapshot's position may not be readable yet. Without this wait, the accounts
  // could lack entries that the snapshot leaves out as posted.
  const end = await readUntil(
    (readable) => readable >= position,
    { time },
    () => readLedgerEnd(store, { streams: [...streams, ...posted] }),
  );
  const source = {
    store,
    selected,
    snapshot: end < position ? undefined : snapshot,
  };
  return {
    end: Math.max(0, end),
    read: (consumer) => readCharges(source, consumer),
    plan: (request) => planJournals(source, request),
  };
};

interface Source {
  readonly store: EventStore;
  readonly selected: SelectedAccounts;
  readonly snapshot: KnownSnapshot | undefined;
}

const readCharges = async (source: Source, { onEvent, ...request }: ChargesConsumer): Promise<void> => {
  const journals = await planJournals(source, request);
  const onGap = requirePlanned(source.store, journals, request.asOf);
  await pLimit(maxConcurrentReads).map(journals, async ([journal, part]) => {
    for await (const event of readRanges(source.store, journal, part.ranges(), { ...request, onGap })) {
      onEvent(event as unknown as JournalEvent, part.neededBy(event.revision), journal);
    }
  });
};

const planJournals = async (
  { store, selected, snapshot }: Source,
  request: ChargesRequest,
): Promise<ReadonlyMap<string, JournalPart>> => {
  if (selected.all.length === 0) return new Map();
  const open = request.journal === undefined ? await listOpenJournals(store) : [request.journal];
  // `unposted` is read before the accounts. An entry that is posted in between is counted once,
  // because the posting names its last revision.
  const unposted = new Map<string, number>();
  await pLimit(maxConcurrentReads).map(open, async (journal) => {
    const postedUpTo = snapshot?.postedUpTo.get(journal) ?? (await readPostedUpTo(store, journal));
    unposted.set(journal, postedUpTo);
  });
  const journals = new Map<string, JournalPart>();
  const partOf = (journal: string): JournalPart => {
    const part = journals.get(journal) ?? new JournalPart(selected, unposted.get(journal));
    journals.set(journal, part);
    return part;
  };
  for (const journal of unposted.keys()) partOf(journal);
  const readOldest = lazy(() => positionOfUnposted(store, unposted));
  await pLimit(maxConcurrentReads).map(selected.all, async (account) => {
    await readAccount(store, request, { account, readOldest, partOf });
    if (!snapshot) return;
    const isReached = snapshot.position <= (request.asOf?.position ?? snapshot.position);
    for (const [journal, known] of snapshot.partsOf(account)) {
      if (unposted.has(journal)) addKnown(request, { account, journal, known, isReached }, partOf(journal));
    }
  });
  return journals;
};

/** The log position of the first event that may be unposted: earlier postings do not include it. */
const positionOfUnposted = async (
  store: EventStore,
  /** The revision up to which everything is posted, by journal. */
  unposted: ReadonlyMap<string, number>,
): Promise<number> => {
  const positions = await pLimit(maxConcurrentReads).map(unposted, async ([journal, postedUpTo]) => {
    const next = await readEvent(store, journalStream(journal), { fromInclusive: postedUpTo + 1 });
    return next?.position ?? Number.POSITIVE_INFINITY;
  });
  return Math.min(...positions);
};

interface AccountRead {
  readonly account: AccountId;
  readonly readOldest: () => Promise<number>;
  readonly partOf: (journal: string) => JournalPart;
}

/**
 * Reads the account's postings backwards until no earlier one is needed, and none can include an
 * event that may be unposted.
 */
const readAccount = async (
  store: EventStore,
  { asOf = {}, journal, signal, useOf = sumsOrEntries, ...consumer }: ChargesRequest,
  { account, readOldest, partOf }: AccountRead,
): Promise<void> => {
  const options = { direction: "backwards", ...(signal && { signal }) } as const;
  let isEnough = false;
  for await (const event of store.readStream(usageAccountStream(account.apiKey, account.month), options)) {
    if (isEnough && event.position < (await readOldest())) return;
    if (event.type !== "UsagePosted" || !isWellFormed(event)) continue;
    const { position } = event;
    const posting = event.data as UsagePosted;
    if (journal !== undefined && posting.journal !== journal) continue;
    const part = partOf(posting.journal);
    part.addPosting(account, posting.through);
    if (isEnough) continue;
    const isWhole = isWithin(asOf, position, posting.until);
    const use = useOf({ sums: posting, at: posting.at, position, isWhole }, account);
    if (use === "entries") part.need(account, rangesIn(posting.ranges));
    else if (use === "sums") consumer.onSums?.(posting, account, posting.journal);
    else if (use === "balance") consumer.onBalance?.(posting.balance, account);
    isEnough = use === "balance" || use === "end";
  }
};

const sumsOrEntries = ({ isWhole }: SummedUp): Use => (isWhole ? "sums" : "entries");

interface KnownRead {
  readonly account: AccountId;
  readonly journal: string;
  readonly known: KnownPart;
  /** True if `asOf` includes the positions of all known entries. */
  readonly isReached: boolean;
}

/**
 * Adds the known unposted entries of an account. Call it after the account's postings were read.
 */
const addKnown = (
  { asOf = {}, useOf = sumsOrEntries, onSums }: ChargesRequest,
  { account, journal, known, isReached }: KnownRead,
  part: JournalPart,
): void => {
  const posted = part.postedUpTo(account);
  part.addKnown(account, known);
  for (const sums of known.totals) {
    const isWhole = isReached && isWithin(asOf, -1, sums.until);
    const summedUp = { sums, at: sums.until, position: Number.POSITIVE_INFINITY, isWhole };
    const use = sums.fromInclusive > posted ? useOf(summedUp, account) : "entries";
    if (use === "sums" || use === "balance") onSums?.(sums, account, journal);
    else if (use === "entries") part.need(account, rangesAfter(posted, sums));
  }
};

/** The ranges of the known entries that follow the posted revision. */
const rangesAfter = (posted: number, { toInclusive: known, entries }: KnownTotals): Range[] =>
  rangesIn(entries.ranges)
    .filter(([fromInclusive, toInclusive]) => toInclusive > posted && fromInclusive <= known)
    .map(([fromInclusive, toInclusive]) => [
      Math.max(fromInclusive, posted + 1),
      Math.min(toInclusive, known),
    ]);
