import {
  type AccountId,
  addUsage,
  noUsage,
  type UsageCount,
  type UsagePosted,
  usageAccountStream,
} from "../../domain/ledger/accounts/usage-account.ts";
import { addEntries, addPosting, UsageSum } from "../../domain/ledger/accounts/usage-sum.ts";
import { journalStream } from "../../domain/ledger/journal/journal.ts";
import { readJournalEnd } from "../journal/journal-reader.ts";
import {
  beginCharges,
  type ChargesReading,
  type ChargesRequest,
  type ChargesSource,
} from "./read-charges.ts";
import type { AsOf } from "./read-ranges.ts";

export interface UsageRequest extends AccountId {
  readonly asOf?: AsOf;
  readonly signal?: AbortSignal | undefined;
}

/** The usage of all entries up to a log position, inclusive, by key. */
interface UsageCounts {
  readonly asOfPosition: number;
  readonly counts: ReadonlyMap<string, UsageCount>;
}

export type UsageReader = ReturnType<typeof createUsageReader>;

/** Reads usage from the accounts, and the entries that are not posted yet from the journals. */
export const createUsageReader = (source: ChargesSource) => ({
  /** @throws {EventStoreUnavailable} */
  usageOf: async ({ apiKey, month, ...request }: UsageRequest): Promise<UsageSum> =>
    await readUsage(await beginCharges(source, [{ apiKey, month }]), request),

  /**
   * Begins to read an account. `end`: the position of the log up to which the account and the
   * streams can be read.
   * @throws {EventStoreUnavailable}
   */
  beginUsage: async (account: AccountId, streams: readonly string[]) => {
    const stream = usageAccountStream(account.apiKey, account.month);
    const reading = await beginCharges(source, [account], [...streams, stream]);
    return {
      end: reading.end,
      read: (request: Omit<UsageRequest, keyof AccountId>) => readUsage(reading, request),
    };
  },

  /**
   * The month's usage of many keys. Reads the end of each account, and the unposted entries once.
   * @throws {EventStoreUnavailable}
   */
  countsOf: async (apiKeys: readonly string[], month: string): Promise<UsageCounts> => {
    const accounts = apiKeys.map((apiKey) => ({ apiKey, month }));
    const { end, read } = await beginCharges(source, accounts);
    const counts = new Map<string, { posted: UsageCount; unposted: UsageSum }>();
    const countOf = (apiKey: string) => {
      const count = counts.get(apiKey) ?? { posted: noUsage, unposted: new UsageSum() };
      counts.set(apiKey, count);
      return count;
    };
    await read({
      asOf: { position: end },
      useOf: ({ isWhole }) => (isWhole ? "balance" : "entries"),
      onBalance: (balance, { apiKey }) => {
        countOf(apiKey).posted = balance;
      },
      onSums: (sums, { apiKey }) => addPosting(countOf(apiKey).unposted, sums),
      onEvent: (event, neededBy) =>
        addEntries(event, (apiKey, of) => neededBy(apiKey, of) && countOf(apiKey).unposted),
    });
    const total = new Map<string, UsageCount>();
    for (const apiKey of apiKeys) {
      const { posted, unposted } = countOf(apiKey);
      total.set(apiKey, addUsage(posted, unposted));
    }
    return { asOfPosition: end, counts: total };
  },
});

const readUsage = async (
  { read }: Pick<ChargesReading, "read">,
  request: Pick<ChargesRequest, "asOf" | "journal" | "signal">,
): Promise<UsageSum> => {
  const sum = new UsageSum();
  await read({
    ...request,
    onSums: (sums) => addPosting(sum, sums),
    onEvent: (event, neededBy) => addEntries(event, (key, of) => neededBy(key, of) && sum),
  });
  return sum;
};

/**
 * The month's characters of the key by journal, without voided ones.
 * @throws {EventStoreUnavailable}
 */
export const totalsByJournal = async (
  source: ChargesSource,
  apiKey: string,
  month: string,
): Promise<{ readonly journal: string; readonly total: number }[]> => {
  const sums = new Map<string, UsageSum>();
  const sumOf = (journal: string): UsageSum => {
    const sum = sums.get(journal) ?? new UsageSum();
    sums.set(journal, sum);
    return sum;
  };
  const { read } = await beginCharges(source, [{ apiKey, month }]);
  await read({
    onSums: (posted, _, journal) => addPosting(sumOf(journal), posted),
    onEvent: (event, neededBy, journal) =>
      addEntries(event, (key, of) => neededBy(key, of) && sumOf(journal)),
  });
  return [...sums].map(([journal, { characters }]) => ({ journal, total: characters }));
};

/**
 * The key's characters of the month in a closed journal; negative if more were voided.
 * @throws {EventStoreUnavailable}
 */
export const spentBy = async (
  source: ChargesSource,
  journal: string,
  apiKey: string,
  month: string,
): Promise<number> => {
  const end = await readJournalEnd(source.store, journal);
  if (!end?.closed) throw new Error(`journal ${journal} is not closed`);
  const reading = await beginCharges(source, [{ apiKey, month }], [journalStream(journal)]);
  return (await readUsage(reading, { journal })).characters;
};

/**
 * The key's characters of the month that a journal has posted; negative if more were voided.
 * Entries that came after their account was closed are missing.
 * @throws {EventStoreUnavailable}
 */
export const postedBy = async (
  { store }: Pick<ChargesSource, "store">,
  journal: string,
  apiKey: string,
  month: string,
): Promise<number> => {
  let characters = 0;
  for await (const { type, data } of store.readStream(usageAccountStream(apiKey, month))) {
    const posting = data as UsagePosted;
    if (type === "UsagePosted" && posting.journal === journal) characters += posting.characters;
  }
  return characters;
};
