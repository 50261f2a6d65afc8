import pLimit from "p-limit";
import { type JournalEvent, journalStream } from "../../../domain/ledger/journal.ts";
import {
  addUsage,
  type UsageCount,
  type UsagePosted,
  usageAccountStream,
} from "../../../domain/ledger/usage-accounts/usage-account.ts";
import {
  addEntries,
  addPosting,
  type SumOf,
  UsageSum,
} from "../../../domain/ledger/usage-accounts/usage-sum.ts";
import { type EventStore, readEvent } from "../../../eventstore/event-store.ts";
import { eventTime } from "../../usage/events/event-time.ts";
import { readPostedMark } from "../journal/journal-reader.ts";
import { listOpenJournals } from "../journal/journal-registry.ts";
import { readLedgerEnd } from "../journal/ledger-end.ts";

/** What is read: everything, or only entries up to a time (milliseconds since the epoch), a log position, or both; inclusive. */
export interface AsOf {
  readonly time?: number | undefined;
  readonly position?: number | undefined;
}

export interface UsageRequest {
  readonly apiKey: string;
  /** `yyyy-mm` */
  readonly month: string;
  readonly asOf?: AsOf;
  readonly signal?: AbortSignal | undefined;
}

/** By key, the usage of all entries up to a log position, inclusive, and of none that follow. */
export interface UsageCounts {
  readonly asOfPosition: number;
  readonly counts: ReadonlyMap<string, UsageCount>;
}

/** A journal's part of an account. */
interface JournalPart {
  /** The last posted revision that is included. */
  through: number;
  /** The ranges of later postings, in order. */
  readonly later: (readonly number[])[];
}

const maxConcurrentReads = 8;

export type UsageReader = ReturnType<typeof createUsageReader>;

/** Reads usage from the accounts, and the entries that are not posted yet from the journals. */
export const createUsageReader = ({ store }: { readonly store: EventStore }) => ({
  /** @throws {EventStoreUnavailable} */
  usageOf: async ({ apiKey, month, asOf = {}, signal }: UsageRequest): Promise<UsageSum> => {
    // The order matters: what is posted between two of the reads is then counted once, from the account.
    const marks = await readMarks(store, await listOpenJournals(store));
    const sum = new UsageSum();
    const parts = await addPostings(store, { apiKey, month, asOf, signal }, sum);
    for (const [journal, mark] of marks) {
      const part = parts.get(journal);
      if (part) part.through = Math.max(part.through, mark);
      else parts.set(journal, { through: mark, later: [] });
    }
    const sumOf: SumOf = (key, of) => (key === apiKey && of === month ? sum : undefined);
    await pLimit(maxConcurrentReads).map(parts, async ([journal, part]) => {
      const read = { store, journal, asOf, sumOf, signal };
      if (!(await addLaterPostings(read, part))) return;
      const last = part.later.at(-1)?.at(-1) ?? -1;
      if (marks.has(journal)) await addRange(read, Math.max(part.through, last) + 1);
    });
    return sum;
  },

  /** The month's usage of many keys. Reads the end of each account, and each open journal's tail once. @throws {EventStoreUnavailable} */
  countsOf: async (apiKeys: readonly string[], month: string): Promise<UsageCounts> => {
    const asOfPosition = await readLedgerEnd(store);
    const tails = await readTails(store, await listOpenJournals(store, asOfPosition), asOfPosition);
    const limit = pLimit(maxConcurrentReads);
    const ends = await limit.map(new Set(apiKeys), (apiKey) =>
      readAccountEnd(store, { apiKey, month, asOfPosition, tails }),
    );
    const accounts = new Map(ends.map((end) => [end.apiKey, end]));
    await limit.map(tails, async ([journal, { from }]) => {
      for await (const event of store.readStream(journalStream(journal), { from })) {
        if (event.position > asOfPosition) return;
        addEntries(event as unknown as JournalEvent, (apiKey, of) => {
          const end = of === month ? accounts.get(apiKey) : undefined;
          return end && event.revision > (end.through.get(journal) ?? -1) ? end.tail : undefined;
        });
      }
    });
    const counts = new Map(ends.map(({ apiKey, balance, tail }) => [apiKey, addUsage(balance, tail)]));
    return { asOfPosition, counts };
  },
});

/** By journal, the revision up to which everything is posted. */
export const readMarks = async (
  store: EventStore,
  journals: readonly string[],
  asOfPosition?: number,
): Promise<Map<string, number>> => {
  const marks = await pLimit(maxConcurrentReads).map(
    journals,
    async (journal): Promise<[string, number]> => [
      journal,
      await readPostedMark(store, journal, asOfPosition),
    ],
  );
  return new Map(marks);
};

/** Adds the postings whose entries are all within `asOf`. */
const addPostings = async (
  store: EventStore,
  { apiKey, month, asOf = {}, signal }: UsageRequest,
  sum: UsageSum,
): Promise<Map<string, JournalPart>> => {
  const parts = new Map<string, JournalPart>();
  for await (const event of store.readStream(usageAccountStream(apiKey, month), signal && { signal })) {
    if (event.type !== "UsagePosted") continue;
    const posting = event.data as UsagePosted;
    const part = parts.get(posting.journal) ?? { through: -1, later: [] };
    parts.set(posting.journal, part);
    if (isWithin(asOf, event.position, posting.until)) {
      addPosting(sum, posting);
      part.through = posting.through;
    } else part.later.push(posting.ranges);
  }
  return parts;
};

interface TailRead {
  readonly store: EventStore;
  readonly journal: string;
  readonly asOf: AsOf;
  readonly sumOf: SumOf;
  readonly signal?: AbortSignal | undefined;
}

/** Adds the included entries of postings that end later. False if a later entry was found. */
const addLaterPostings = async (read: TailRead, { later }: JournalPart): Promise<boolean> => {
  for (const ranges of later) {
    for (let i = 0; i < ranges.length; i += 2) {
      if (!(await addRange(read, ranges[i] as number, ranges[i + 1]))) return false;
    }
  }
  return true;
};

/** Adds the entries of the revisions up to `to` (inclusive, default: the end). False if a later entry was found. */
export const addRange = async (
  { store, journal, asOf, sumOf, signal }: TailRead,
  from: number,
  to = Number.MAX_SAFE_INTEGER - 1,
): Promise<boolean> => {
  const limit = to - from + 1;
  const options = { from, ...(limit < maxLimit && { limit }), ...(signal && { signal }) };
  for await (const event of store.readStream(journalStream(journal), options)) {
    if (!isWithin(asOf, event.position, eventTime(event))) return false;
    addEntries(event as unknown as JournalEvent, sumOf);
  }
  return true;
};

const maxLimit = 2 ** 31;

/** Positions and times never go backwards within a journal. */
const isWithin = ({ time, position }: AsOf, at: number, until: string): boolean =>
  (position === undefined || at <= position) && (time === undefined || Date.parse(until) <= time);

interface Tail {
  /** The revision after the mark. */
  readonly from: number;
  /** The log position of that event: postings at or before it do not include it. */
  readonly position: number;
}

/** The journals that have events after their mark. */
const readTails = async (
  store: EventStore,
  journals: readonly string[],
  asOfPosition: number,
): Promise<Map<string, Tail>> => {
  const tails = new Map<string, Tail>();
  for (const [journal, mark] of await readMarks(store, journals, asOfPosition)) {
    const from = mark + 1;
    const first = await readEvent(store, journalStream(journal), { from });
    if (first && first.position <= asOfPosition) tails.set(journal, { from, position: first.position });
  }
  return tails;
};

interface AccountEnd {
  readonly apiKey: string;
  readonly balance: UsageCount;
  /** By journal with a tail, the last posted revision. */
  readonly through: ReadonlyMap<string, number>;
  readonly tail: UsageSum;
}

/** Reads backwards, as far as postings may include entries of the tails. */
const readAccountEnd = async (
  store: EventStore,
  {
    apiKey,
    month,
    asOfPosition,
    tails,
  }: {
    readonly apiKey: string;
    readonly month: string;
    readonly asOfPosition: number;
    readonly tails: ReadonlyMap<string, Tail>;
  },
): Promise<AccountEnd> => {
  const oldest = Math.min(...[...tails.values()].map(({ position }) => position));
  const through = new Map<string, number>();
  let balance: UsageCount | undefined;
  for await (const event of store.readStream(usageAccountStream(apiKey, month), { direction: "backwards" })) {
    if (event.type !== "UsagePosted" || event.position > asOfPosition) continue;
    const posting = event.data as UsagePosted;
    balance ??= posting.balance;
    if (event.position < oldest) break;
    if (!through.has(posting.journal)) through.set(posting.journal, posting.through);
  }
  return { apiKey, balance: balance ?? new UsageSum(), through, tail: new UsageSum() };
};
