import pLimit from "p-limit";
import { UsageAccountIsClosed } from "../../domain/ledger/accounts/usage-account.ts";
import { addEntries, type UsageSum } from "../../domain/ledger/accounts/usage-sum.ts";
import { eventDigest } from "../../domain/ledger/journal/canonical.ts";
import { type JournalEvent, journalStream } from "../../domain/ledger/journal/journal.ts";
import { type EventStore, readEvent } from "../../eventstore/event-store.ts";
import { readUnposted } from "../journal/journal-reader.ts";
import { NumberLists } from "./number-lists.ts";
import { UnpostedEntries } from "./unposted-entries.ts";
import { createUsagePoster, type UsagePoster, type UsagePosterOptions } from "./usage-poster.ts";

interface Account {
  readonly apiKey: string;
  readonly month: string;
  /** The last revision that is posted already. */
  readonly posted: number;
  readonly entries: UnpostedEntries;
}

export interface PostOnBehalfOptions extends Omit<UsagePosterOptions, "fromExclusive"> {
  readonly onError: (what: string, error: unknown) => void;
}

const maxConcurrent = 8;

/**
 * Posts the unposted entries of a closed journal, for a process that is gone. Idempotent: several
 * processes may do it concurrently, the journal's own process included.
 * @throws {Unavailable}
 * @throws {PostingOutOfOrder} if another process has posted a part meanwhile: call it again
 */
export const postOnBehalf = async (
  options: PostOnBehalfOptions,
  /** The revision of `JournalClosed`. */
  closedRevision: number,
): Promise<void> => {
  const { store, journal } = options;
  const poster = createUsagePoster({ ...options, fromExclusive: await positionBefore(store, journal) });
  const limit = pLimit(maxConcurrent);
  const accounts = await unpostedAccounts(options, poster, limit, closedRevision);
  const unposted = accounts.filter(({ entries }) => entries.toInclusive >= 0);
  await limit.map(unposted, async ({ posted, ...account }) => {
    try {
      await poster.post({ ...account, fromInclusive: posted + 1 });
    } catch (error) {
      // The posting is given up for good. The journal must leave the registry nevertheless: there,
      // its unposted entries would keep all accounts open.
      if (!(error instanceof UsageAccountIsClosed)) throw error;
      options.onError(
        `usage of ${account.apiKey} in ${account.month} came after the account was closed`,
        error,
      );
    }
  });
};

/** A log position before the journal's first event. */
const positionBefore = async (store: EventStore, journal: string): Promise<number> => {
  const first = await readEvent(store, journalStream(journal));
  return (first?.position ?? 0) - 1;
};

const unpostedAccounts = async (
  { store, journal }: Pick<UsagePosterOptions, "store" | "journal">,
  poster: UsagePoster,
  limit: ReturnType<typeof pLimit>,
  closedRevision: number,
): Promise<Account[]> => {
  const accounts = new Map<string, Account>();
  const lists = new NumberLists();
  for await (const recorded of readUnposted(store, journal, closedRevision)) {
    const event = recorded as unknown as JournalEvent;
    let digest: string | undefined;
    const unknown = accountsOf(event).filter(([name]) => !accounts.has(name));
    await limit.map(unknown, async ([name, apiKey, month]) => {
      const posted = await poster.lastPostedRevision(apiKey, month);
      accounts.set(name, { apiKey, month, posted, entries: new UnpostedEntries(lists) });
    });
    addEntries(event, (apiKey, month): UsageSum | undefined => {
      const account = accounts.get(accountName(apiKey, month));
      if (!account || recorded.revision <= account.posted) return undefined;
      // The digest is computed, not read from the next event's `previous`, because that event may
      // be another program's.
      digest ??= eventDigest(recorded);
      account.entries.addEvent(recorded.revision, digest);
      return account.entries;
    });
  }
  return [...accounts.values()];
};

const accountsOf = (event: JournalEvent): [name: string, apiKey: string, month: string][] => {
  const found = new Map<string, [string, string, string]>();
  addEntries(event, (apiKey, month) => {
    const name = accountName(apiKey, month);
    found.set(name, [name, apiKey, month]);
    return undefined;
  });
  return [...found.values()];
};

const accountName = (apiKey: string, month: string): string => `${month} ${apiKey}`;
