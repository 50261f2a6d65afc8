import pLimit from "p-limit";
import { isWellFormed } from "../../../domain/event-shapes.ts";
import { type JournalEvent, journalStream } from "../../../domain/ledger/journal.ts";
import { type UsagePosted, usageAccountStream } from "../../../domain/ledger/usage-accounts/usage-account.ts";
import { type EventStore, type RecordedEvent, readEvent } from "../../../eventstore/event-store.ts";
import { eventTime } from "../../usage/events/event-time.ts";
import { readPostedUpTo } from "../journal/journal-reader.ts";
import { listOpenJournals } from "../journal/journal-registry.ts";
import { openEnd, type Range, rangesIn, sortRanges, uniteRanges } from "./revision-ranges.ts";

/** The usage account of a key and a month. */
export interface Account {
  readonly apiKey: string;
  /** `yyyy-mm` */
  readonly month: string;
}

/** Entries up to a time (milliseconds since the epoch), a log position, or both; inclusive. Default: all. */
export interface AsOf {
  readonly time?: number | undefined;
  readonly position?: number | undefined;
}

/**
 * What is needed of a posting: its `sums`; the `balance` of the account after it, and so none of the earlier ones; the `entries` that
 * it sums up; `nothing`; or the `end`: neither it nor any earlier one.
 */
export type Use = "sums" | "balance" | "entries" | "nothing" | "end";

export interface Posted {
  readonly posting: UsagePosted;
  readonly position: number;
  /** Whether all of its entries are included. */
  readonly isWhole: boolean;
}

export interface ChargesRequest {
  readonly accounts: readonly Account[];
  /** Only the entries of this journal. */
  readonly journal?: string | undefined;
  readonly asOf?: AsOf | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called with the postings of each account, the latest one first. Default: the sums of whole postings, and the entries of the others. */
  readonly useOf?: (posted: Posted, account: Account) => Use;
  readonly onPosting?: (posting: UsagePosted, account: Account) => void;
}

/** The account if the entries that it has in the event are needed. Call it for each event in turn. */
export type NeededBy = (apiKey: string, month: string) => Account | undefined;

export interface ChargesReading extends ChargesRequest {
  /** Called with events of journals, those of each journal in order. */
  readonly onEvent: (event: JournalEvent, neededBy: NeededBy, journal: string) => void;
}

const maxConcurrentReads = 8;

/**
 * Reads each charge of the accounts once, from a posting or from the journal's event, whatever is posted meanwhile. Each event of a
 * journal is read at most once for all accounts. @throws {EventStoreUnavailable}
 */
export const readCharges = async (
  store: EventStore,
  { onEvent, ...request }: ChargesReading,
): Promise<void> => {
  const journals = await planJournals(store, request);
  await pLimit(maxConcurrentReads).map(journals, async ([journal, part]) => {
    for await (const event of readRanges(store, journal, part.ranges(), request)) {
      onEvent(event as unknown as JournalEvent, part.neededBy(event.revision), journal);
    }
  });
};

/** The events of a journal in ranges that do not overlap, in order, as far as `asOf` includes them. @throws {EventStoreUnavailable} */
export async function* readRanges(
  store: EventStore,
  journal: string,
  ranges: readonly Range[],
  { asOf = {}, signal }: Pick<ChargesRequest, "asOf" | "signal"> = {},
): AsyncGenerator<RecordedEvent, void, undefined> {
  for (const [from, last] of ranges) {
    const options = { from, ...(last < openEnd && { limit: last - from + 1 }), ...(signal && { signal }) };
    for await (const event of store.readStream(journalStream(journal), options)) {
      // Positions and times never go backwards within a journal.
      if (!isWithin(asOf, event.position, eventTime(event))) return;
      yield event;
    }
  }
}

/** An event whose time cannot be parsed is included. */
const isWithin = ({ time, position }: AsOf, at: number, until: string): boolean =>
  (position === undefined || at <= position) && !(time !== undefined && Date.parse(until) > time);

/** Reads the accounts, and returns which events of journals are needed. @throws {EventStoreUnavailable} */
export const planJournals = async (
  store: EventStore,
  request: ChargesRequest,
): Promise<ReadonlyMap<string, JournalPart>> => {
  const selected = new SelectedAccounts(request.accounts);
  if (selected.all.length === 0) return new Map();
  // The order matters: what is posted after this is counted once, because its account names its last revision.
  const unposted = await findUnposted(store, request.journal);
  const journals = new Map<string, JournalPart>();
  const partOf = (journal: string): JournalPart => {
    const part = journals.get(journal) ?? new JournalPart(selected, unposted.get(journal)?.postedUpTo);
    journals.set(journal, part);
    return part;
  };
  for (const journal of unposted.keys()) partOf(journal);
  const oldest = Math.min(...[...unposted.values()].map(({ position }) => position));
  await pLimit(maxConcurrentReads).map(selected.all, (account) =>
    readAccount(store, request, { account, oldest, partOf }),
  );
  return journals;
};

interface Unposted {
  /** Everything up to this revision is posted. */
  readonly postedUpTo: number;
  /** The log position of the next event: postings before it do not include it. */
  readonly position: number;
}

/** The open journals that have events after the revision up to which everything is posted. */
const findUnposted = async (store: EventStore, journal?: string): Promise<Map<string, Unposted>> => {
  const journals = journal === undefined ? await listOpenJournals(store) : [journal];
  const found = new Map<string, Unposted>();
  await pLimit(maxConcurrentReads).map(journals, async (name) => {
    const postedUpTo = await readPostedUpTo(store, name);
    const next = await readEvent(store, journalStream(name), { from: postedUpTo + 1 });
    if (next) found.set(name, { postedUpTo, position: next.position });
  });
  return found;
};

/** Reads backwards, until no earlier posting is needed, or can include an event that may be unposted. */
const readAccount = async (
  store: EventStore,
  { asOf = {}, journal, useOf = sumsOrEntries, onPosting = () => {}, signal }: ChargesRequest,
  { account, oldest, partOf }: { account: Account; oldest: number; partOf: (journal: string) => JournalPart },
): Promise<void> => {
  const options = { direction: "backwards", ...(signal && { signal }) } as const;
  let isEnough = false;
  for await (const event of store.readStream(usageAccountStream(account.apiKey, account.month), options)) {
    if (isEnough && event.position < oldest) return;
    if (event.type !== "UsagePosted" || !isWellFormed(event)) continue;
    const { position } = event;
    const posting = event.data as UsagePosted;
    if (journal !== undefined && posting.journal !== journal) continue;
    const part = partOf(posting.journal);
    part.addPosting(account, posting);
    if (isEnough) continue;
    const use = useOf({ posting, position, isWhole: isWithin(asOf, position, posting.until) }, account);
    if (use === "entries") part.need(account, posting);
    else if (use === "sums" || use === "balance") onPosting(posting, account);
    isEnough = use === "balance" || use === "end";
  }
};

const sumsOrEntries = ({ isWhole }: Posted): Use => (isWhole ? "sums" : "entries");

class SelectedAccounts {
  readonly #months = new Map<string, Map<string, Account>>();
  readonly all: readonly Account[];

  constructor(accounts: readonly Account[]) {
    const all: Account[] = [];
    for (const account of accounts) {
      const ofMonth = this.#months.get(account.month) ?? new Map<string, Account>();
      this.#months.set(account.month, ofMonth);
      if (ofMonth.has(account.apiKey)) continue;
      ofMonth.set(account.apiKey, account);
      all.push(account);
    }
    this.all = all;
  }

  find(apiKey: string, month: string): Account | undefined {
    return this.#months.get(month)?.get(apiKey);
  }
}

interface AccountPart {
  /** The last posted revision. */
  postedUpTo: number;
  readonly ranges: Range[];
  /** The first of the ranges that does not end before the last revision asked for. */
  next: number;
}

/** The events of a journal that are needed, and by which accounts. */
export class JournalPart {
  readonly #selected: SelectedAccounts;
  /** Everything up to this revision is posted; undefined if everything is. */
  readonly #postedUpTo: number | undefined;
  readonly #accounts = new Map<Account, AccountPart>();

  constructor(selected: SelectedAccounts, postedUpTo: number | undefined) {
    this.#selected = selected;
    this.#postedUpTo = postedUpTo;
  }

  addPosting(account: Account, { through }: UsagePosted): void {
    const part = this.#partOf(account);
    part.postedUpTo = Math.max(part.postedUpTo, through);
  }

  need(account: Account, { ranges }: UsagePosted): void {
    this.#partOf(account).ranges.push(...rangesIn(ranges));
  }

  #partOf(account: Account): AccountPart {
    const part = this.#accounts.get(account) ?? { postedUpTo: -1, ranges: [], next: 0 };
    this.#accounts.set(account, part);
    return part;
  }

  /** The needed revisions as ranges that do not overlap, in order. */
  ranges(): Range[] {
    const all: Range[] = [];
    for (const { ranges } of this.#accounts.values()) for (const range of sortRanges(ranges)) all.push(range);
    if (this.#postedUpTo !== undefined) all.push([this.#firstUnposted(this.#postedUpTo), openEnd]);
    return uniteRanges(all);
  }

  #firstUnposted(postedUpTo: number): number {
    const posted = [...this.#accounts.values()].map((part) => part.postedUpTo);
    const ofAll = posted.length < this.#selected.all.length ? postedUpTo : Math.min(...posted);
    return Math.max(postedUpTo, ofAll) + 1;
  }

  /** Call it after `ranges`, with revisions that do not decrease. */
  neededBy(revision: number): NeededBy {
    return (apiKey, month) => {
      const account = this.#selected.find(apiKey, month);
      return account && this.#isNeeded(account, revision) ? account : undefined;
    };
  }

  #isNeeded(account: Account, revision: number): boolean {
    const part = this.#accounts.get(account);
    if (this.#postedUpTo !== undefined && revision > Math.max(this.#postedUpTo, part?.postedUpTo ?? -1))
      return true;
    if (!part) return false;
    while ((part.ranges[part.next]?.[1] ?? openEnd) < revision) part.next += 1;
    const [first] = part.ranges[part.next] ?? [Number.POSITIVE_INFINITY];
    return first <= revision;
  }
}
