import {
  addUsage,
  noUsage,
  type UsageCount,
  usageAccountStream,
} from "../../../domain/ledger/usage-accounts/usage-account.ts";
import { addEntries, addPosting, UsageSum } from "../../../domain/ledger/usage-accounts/usage-sum.ts";
import type { EventStore } from "../../../eventstore/event-store.ts";
import { readJournalEnd } from "../journal/journal-reader.ts";
import { readLedgerEnd } from "../journal/ledger-end.ts";
import { type Account, type AsOf, readCharges } from "./read-charges.ts";

export interface UsageRequest extends Account {
  readonly asOf?: AsOf;
  readonly signal?: AbortSignal | undefined;
}

/** By key, the usage of all entries up to a log position, inclusive, and of none that follow. */
export interface UsageCounts {
  readonly asOfPosition: number;
  readonly counts: ReadonlyMap<string, UsageCount>;
}

export type UsageReader = ReturnType<typeof createUsageReader>;

/** Reads usage from the accounts, and the entries that are not posted yet from the journals. */
export const createUsageReader = ({ store }: { readonly store: EventStore }) => ({
  /** @throws {EventStoreUnavailable} */
  usageOf: async ({ apiKey, month, ...request }: UsageRequest): Promise<UsageSum> => {
    const sum = new UsageSum();
    await readCharges(store, {
      ...request,
      accounts: [{ apiKey, month }],
      onPosting: (posting) => addPosting(sum, posting),
      onEvent: (event, neededBy) => addEntries(event, (key, of) => neededBy(key, of) && sum),
    });
    return sum;
  },

  /** The month's usage of many keys. Reads the end of each account, and the unposted entries once. @throws {EventStoreUnavailable} */
  countsOf: async (apiKeys: readonly string[], month: string): Promise<UsageCounts> => {
    const position = await readLedgerEnd(store);
    const counts = new Map<string, { posted: UsageCount; unposted: UsageSum }>();
    for (const apiKey of apiKeys) counts.set(apiKey, { posted: noUsage, unposted: new UsageSum() });
    await readCharges(store, {
      accounts: apiKeys.map((apiKey) => ({ apiKey, month })),
      asOf: { position },
      useOf: ({ isWhole }) => (isWhole ? "balance" : "entries"),
      onPosting: ({ balance }, { apiKey }) => {
        const count = counts.get(apiKey);
        if (count) count.posted = balance;
      },
      onEvent: (event, neededBy) =>
        addEntries(event, (apiKey, of) => neededBy(apiKey, of) && counts.get(apiKey)?.unposted),
    });
    const total = new Map(
      [...counts].map(([apiKey, { posted, unposted }]) => [apiKey, addUsage(posted, unposted)]),
    );
    return { asOfPosition: position, counts: total };
  },
});

/** The month's characters of the key by journal, without voided ones. @throws {EventStoreUnavailable} */
export const totalsByJournal = async (
  store: EventStore,
  apiKey: string,
  month: string,
): Promise<{ readonly journal: string; readonly total: number }[]> => {
  const sums = new Map<string, UsageSum>();
  const sumOf = (journal: string): UsageSum => {
    const sum = sums.get(journal) ?? new UsageSum();
    sums.set(journal, sum);
    return sum;
  };
  await readCharges(store, {
    accounts: [{ apiKey, month }],
    onPosting: (posting) => addPosting(sumOf(posting.journal), posting),
    onEvent: (event, neededBy, journal) =>
      addEntries(event, (key, of) => neededBy(key, of) && sumOf(journal)),
  });
  return [...sums].map(([journal, { characters }]) => ({ journal, total: characters }));
};

/** The characters that a closed journal holds of the key and month; negative if more were voided. @throws {EventStoreUnavailable} */
export const spentBy = async (
  store: EventStore,
  journal: string,
  apiKey: string,
  month: string,
): Promise<number> => {
  const end = await readJournalEnd(store, journal);
  if (!end?.closed) throw new Error(`journal ${journal} is not closed`);
  let characters = 0;
  const sum = new UsageSum();
  await readCharges(store, {
    accounts: [{ apiKey, month }],
    journal,
    onPosting: (posting) => {
      characters += posting.characters;
    },
    onEvent: (event, neededBy) => addEntries(event, (key, of) => neededBy(key, of) && sum),
  });
  return characters + sum.characters;
};

/**
 * The characters of the key and month that a journal has posted; negative if more were voided. Entries that came after their account
 * was closed are missing. @throws {EventStoreUnavailable}
 */
export const postedBy = async (
  store: EventStore,
  journal: string,
  apiKey: string,
  month: string,
): Promise<number> => {
  let characters = 0;
  for await (const { type, data } of store.readStream(usageAccountStream(apiKey, month))) {
    if (type === "UsagePosted" && "journal" in data && data.journal === journal)
      characters += (data as unknown as { characters: number }).characters;
  }
  return characters;
};
