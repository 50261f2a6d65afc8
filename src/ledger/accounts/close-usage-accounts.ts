import { afterErrors, retry } from "../../async/retry.ts";
import { systemTime, type Time } from "../../async/time.ts";
import {
  closeUsageAccount,
  evolveUsageAccount,
  initialUsageAccount,
  type UsageAccountEvent,
  usageAccountStream,
} from "../../domain/ledger/accounts/usage-account.ts";
import { closingId } from "../../domain/ledger/accounts/usage-event-ids.ts";
import { digestOfEvents } from "../../domain/ledger/journal/canonical.ts";
import { addMonths, monthOf } from "../../domain/ledger/month.ts";
import type { EpochMs } from "../../domain/time.ts";
import {
  type EventStore,
  eventTime,
  readLastEvent,
  WrongExpectedRevision,
} from "../../eventstore/event-store.ts";
import { readUnposted } from "../journal/journal-reader.ts";
import { listOpenJournals } from "../journal/journal-registry.ts";

export interface CloseUsageAccountsOptions {
  readonly store: EventStore;
  /** Every key, in a stable order. */
  readonly apiKeys: () => Iterable<string>;
  readonly clock: () => EpochMs;
  /**
   * Rejects with {Unavailable} if this machine's clock may be wrong: with a wrong clock, accounts
   * of the current month could be closed.
   */
  readonly requireMeasuredClock?: () => Promise<void>;
  /** Measures the delays after conflicts. Default: real time. */
  readonly time?: Time;
  readonly onError: (what: string, error: unknown) => void;
  /** The maximum number of keys per call. Default: 200. */
  readonly keysPerStep?: number;
}

/**
 * Closes accounts of past months, some keys per call. It iterates over all keys, because any of
 * them may have an account, and an instance does not know what others have posted. With 100,000
 * keys and a call per minute, a month is closed after eight hours. After a failure the next call
 * continues. After a restart the iteration starts again, and an account that is already closed
 * costs a read of one event.
 *
 * A month is closed a day after its end, and only when every open journal has posted its entries
 * that are older than an hour. Later postings can only be of voids, which follow their servings
 * within minutes.
 */
type CloseUsageAccounts = () => Promise<void>;

type Account = readonly [apiKey: string, month: string];

/** A void may be posted at the same time, and reads may lag behind it. */
const afterConflicts = afterErrors((error) => error instanceof WrongExpectedRevision, {
  firstMs: 10,
  maxMs: 1_000,
  maxAttempts: 8,
});
const closingMarginMs = 24 * 60 * 60_000;
const postingMarginMs = 60 * 60_000;
/** Earlier months remain open after a long shutdown. Their reports are right nevertheless. */
const monthsBack = 2;

export const createCloseUsageAccounts = ({
  store,
  apiKeys,
  clock,
  requireMeasuredClock = async () => {},
  time = systemTime,
  onError,
  keysPerStep = 200,
}: CloseUsageAccountsOptions): CloseUsageAccounts => {
  /** The newest month of the accounts in `remaining`. */
  let newestRemaining = "";
  let remaining: Iterator<Account, undefined> = [].values();
  /** The account that is being closed. After a failure the next call continues with it. */
  let account: Account | undefined;

  const step = async (): Promise<void> => {
    await requireMeasuredClock();
    const newest = lastClosableMonth(clock());
    if (newest !== newestRemaining) {
      if (!(await isPosted(store, clock() - postingMarginMs))) return;
      newestRemaining = newest;
      remaining = accountsToClose(apiKeys, newest);
      account = undefined;
    }
    for (let keys = 0; keys < keysPerStep; keys++) {
      account ??= remaining.next().value;
      if (!account) return;
      const [open, at] = [account, new Date(clock()).toISOString()];
      await retry({ delayAfter: afterConflicts, time }, () => closeAccount(store, open, at));
      account = undefined;
    }
  };

  return async () => {
    try {
      await step();
    } catch (error) {
      if (!account) newestRemaining = ""; // the keys could not be read: the next call starts again
      onError("the accounts of past months could not be closed", error);
    }
  };
};

/** The last month that ended at least a day ago. */
const lastClosableMonth = (now: number): string =>
  addMonths(monthOf(new Date(now - closingMarginMs).toISOString()), -1);

function* accountsToClose(apiKeys: () => Iterable<string>, newest: string): Generator<Account, undefined> {
  for (let back = 0; back < monthsBack; back++) {
    for (const apiKey of apiKeys()) yield [apiKey, addMonths(newest, -back)];
  }
}

/** True if every open journal has posted the entries that were recorded before this time. */
const isPosted = async (store: EventStore, before: number): Promise<boolean> => {
  for (const journal of await listOpenJournals(store)) {
    for await (const event of readUnposted(store, journal)) {
      if (Date.parse(eventTime(event)) >= before) break;
      if (event.type !== "JournalPosted" && event.type !== "JournalClosed") return false;
    }
  }
  return true;
};

/**
 * Reads the whole account: the digest covers all of its events.
 * @throws {WrongExpectedRevision} if another event was appended
 */
const closeAccount = async (store: EventStore, [apiKey, month]: Account, at: string): Promise<void> => {
  const stream = usageAccountStream(apiKey, month);
  const last = await readLastEvent(store, stream);
  if (last?.type === "AccountClosed") return;
  const events: UsageAccountEvent[] = [];
  for await (const event of store.readStream(stream)) events.push(event as unknown as UsageAccountEvent);
  if (events.length === 0) return;
  const account = events.reduce(evolveUsageAccount, initialUsageAccount());
  const closing = closeUsageAccount(account, { digest: digestOfEvents(events), at });
  const id = closingId(apiKey, month);
  const metadata = { actor: "system" };
  const newEvents = closing.map((event) => ({ id, ...event, metadata }));
  if (newEvents.length > 0) await store.append(stream, newEvents, events.length - 1);
};
