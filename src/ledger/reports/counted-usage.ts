import type { ProjectionRunner } from "../../../projections/runner/runner.ts";
import { readUsageTotals, type UsageTotals, usageTotals } from "../../../projections/usage-totals.ts";
import type { Time } from "../../async/time.ts";
import type { EventStore } from "../../eventstore/event-store.ts";
import { throwUnavailable } from "../../eventstore/store-error.ts";
import type { UsageReader } from "../accounts/usage-reader.ts";
import { readLedgerEnd } from "../journal/journal-registry.ts";

/** The totals of all servings up to a position of the log. */
interface CountedUsage {
  readonly totals: UsageTotals;
  readonly asOfPosition: number;
  /** False if the view lacks events that were recorded before the request, or if it has failed. */
  readonly isComplete: boolean;
}

/**
 * Waits for the events that any instance recorded before the call, for two seconds at most.
 * @throws {Unavailable}
 */
export type ReadCountedUsage = () => Promise<CountedUsage>;

const maxWaitMs = 2_000;
const idleMs = 10 * 60_000;

interface CountedUsageOptions {
  readonly store: EventStore;
  /** Starts to read the log into `usageTotals`. The runner repeats reads that fail. */
  readonly startRunner: () => Pick<
    ProjectionRunner,
    "lastKnownView" | "waitForPosition" | "status" | "close"
  >;
  readonly time: Time;
  /** Default: two seconds. */
  readonly withinMs?: number;
}

/**
 * Follows the log from the first read until ten minutes after the last one. Only operators and
 * auditors ask for the usage of all keys, and adding up every serving of every instance would cost
 * each instance several per cent of its work.
 */
export const createCountedUsage = ({
  store,
  startRunner,
  time,
  withinMs = maxWaitMs,
}: CountedUsageOptions) => {
  let runner: ReturnType<typeof startRunner> | undefined;
  let ended: Promise<unknown> = Promise.resolve();
  let cancelTimer = () => {};

  const stop = (): void => {
    const stopped = runner;
    runner = undefined;
    ended = Promise.all([ended, stopped?.close()]);
  };
  const follow = (): ReturnType<typeof startRunner> => {
    cancelTimer();
    cancelTimer = time.after(idleMs, stop);
    runner ??= startRunner();
    return runner;
  };

  const read: ReadCountedUsage = async () => {
    const { lastKnownView, waitForPosition, status } = follow();
    const end = await readLedgerEnd(store).catch(throwUnavailable);
    await waitForPosition(end, AbortSignal.timeout(withinMs)).catch(() => {});
    const { position, failed } = status();
    return {
      totals: readUsageTotals(lastKnownView(usageTotals)),
      asOfPosition: Math.max(0, position),
      isComplete: position >= end && failed.length === 0,
    };
  };

  return {
    read,
    /** Returns undefined while the log is not followed. */
    status: () => runner?.status(),
    close: async (): Promise<void> => {
      cancelTimer();
      stop();
      await ended;
    },
  };
};

/** The largest page of a list has this many keys. */
const maxKeysRead = 1_000;

/**
 * Counts the usage of keys. If they fit on one page, it reads the end of each account. For more
 * keys it uses the totals, or the accounts as long as the totals are incomplete.
 */
export const createCountUsage = ({
  readCountedUsage,
  accounts,
  keysRead = maxKeysRead,
}: {
  readonly readCountedUsage: ReadCountedUsage;
  readonly accounts: Pick<UsageReader, "countsOf">;
  /** The number of keys up to which accounts are read. */
  readonly keysRead?: number;
}): UsageReader["countsOf"] => {
  const none = { requests: 0, characters: 0 };
  return async (apiKeys, month) => {
    if (apiKeys.length <= keysRead) return await accounts.countsOf(apiKeys, month);
    const { totals, asOfPosition, isComplete } = await readCountedUsage();
    if (!isComplete) return await accounts.countsOf(apiKeys, month);
    const counts = totals.months[month] ?? {};
    return { asOfPosition, counts: new Map(apiKeys.map((apiKey) => [apiKey, counts[apiKey] ?? none])) };
  };
};
