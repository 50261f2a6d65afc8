import pLimit from "p-limit";
import { type UsagePosted, usageAccountStream } from "../../../domain/ledger/usage-accounts/usage-account.ts";
import { addPosting, type SumOf, UsageSum } from "../../../domain/ledger/usage-accounts/usage-sum.ts";
import type { EventStore } from "../../../eventstore/event-store.ts";
import { readJournalEnd, readPostedMark } from "../journal/journal-reader.ts";
import { listOpenJournals } from "../journal/journal-registry.ts";
import { addRange, readMarks } from "./usage-reader.ts";

const maxConcurrentReads = 8;

/** The month's characters of the key by journal, without voided ones. @throws {EventStoreUnavailable} */
export const totalsByJournal = async (
  store: EventStore,
  apiKey: string,
  month: string,
): Promise<{ readonly journal: string; readonly total: number }[]> => {
  const marks = await readMarks(store, await listOpenJournals(store));
  const sums = new Map<string, UsageSum>();
  const sumIn = (journal: string): UsageSum => {
    const sum = sums.get(journal) ?? new UsageSum();
    sums.set(journal, sum);
    return sum;
  };
  for await (const { type, data } of store.readStream(usageAccountStream(apiKey, month))) {
    if (type !== "UsagePosted") continue;
    const posting = data as UsagePosted;
    addPosting(sumIn(posting.journal), posting);
    const mark = marks.get(posting.journal);
    if (mark !== undefined) marks.set(posting.journal, Math.max(mark, posting.through));
  }
  await pLimit(maxConcurrentReads).map(marks, async ([journal, mark]) => {
    const sumOf: SumOf = (key, of) => (key === apiKey && of === month ? sumIn(journal) : undefined);
    await addRange({ store, journal, asOf: {}, sumOf }, mark + 1);
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
  const mark = await readPostedMark(store, journal);
  const { sum, through } = await readPostings(store, journal, apiKey, month);
  const sumOf: SumOf = (key, of) => (key === apiKey && of === month ? sum : undefined);
  await addRange({ store, journal, asOf: {}, sumOf }, Math.max(mark, through) + 1);
  return sum.characters;
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
): Promise<number> => (await readPostings(store, journal, apiKey, month)).sum.characters;

/** The sum of one journal's postings to an account, and the last posted revision; -1 without any. */
const readPostings = async (
  store: EventStore,
  journal: string,
  apiKey: string,
  month: string,
): Promise<{ readonly sum: UsageSum; readonly through: number }> => {
  const sum = new UsageSum();
  let through = -1;
  for await (const { type, data } of store.readStream(usageAccountStream(apiKey, month))) {
    if (type !== "UsagePosted") continue;
    const posting = data as UsagePosted;
    if (posting.journal !== journal) continue;
    addPosting(sum, posting);
    through = posting.through;
  }
  return { sum, through };
};
