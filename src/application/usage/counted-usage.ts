import type { ProjectionRunner } from "../../../projections/runner/runner.ts";
import { readUsageTotals, type UsageTotals, usageTotals } from "../../../projections/usage-totals.ts";
import type { EventStore } from "../../eventstore/event-store.ts";
import { readLedgerEnd } from "../ledger/ledger-end.ts";
import type { UsageReader } from "../ledger/usage-reader.ts";
import { toUnavailable } from "../store-error.ts";

/** The totals of all servings up to a position of the log. */
export interface CountedUsage {
  readonly totals: UsageTotals;
  readonly asOfPosition: number;
  /** False while the view reads what was recorded before the request. */
  readonly isComplete: boolean;
}

/** Waits for what any instance recorded before, for two seconds at most. @throws {Unavailable} */
export type ReadCountedUsage = () => Promise<CountedUsage>;

const withinMs = 2_000;

export const createReadCountedUsage = ({
  store,
  runner,
}: {
  readonly store: EventStore;
  /** Runs `usageTotals`. */
  readonly runner: Pick<ProjectionRunner, "lastKnownView" | "waitForPosition" | "status">;
}): ReadCountedUsage => {
  const view = runner.lastKnownView(usageTotals);
  return async () => {
    const end = await readLedgerEnd(store).catch((error: unknown) => {
      throw toUnavailable(error);
    });
    if (runner.status().position >= 0) {
      await runner.waitForPosition(end, AbortSignal.timeout(withinMs)).catch(() => {});
    }
    const { position, failed } = runner.status();
    return {
      totals: readUsageTotals(view),
      asOfPosition: Math.max(0, position),
      isComplete: position >= end && failed.length === 0,
    };
  };
};

/** Counts the usage of many keys without reads, or from their accounts until the totals are complete. */
export const createCountUsage = ({
  readCountedUsage,
  accounts,
}: {
  readonly readCountedUsage: ReadCountedUsage;
  readonly accounts: Pick<UsageReader, "countsOf">;
}): UsageReader["countsOf"] => {
  const none = { requests: 0, characters: 0 };
  return async (apiKeys, month) => {
    const { totals, asOfPosition, isComplete } = await readCountedUsage();
    if (!isComplete) return await accounts.countsOf(apiKeys, month);
    const counts = totals.months[month] ?? {};
    return { asOfPosition, counts: new Map(apiKeys.map((apiKey) => [apiKey, counts[apiKey] ?? none])) };
  };
};
