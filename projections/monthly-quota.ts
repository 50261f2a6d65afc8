import {
  evolveUsageAccount,
  initialUsageAccount,
  type UsageAccount,
  type UsageAccountEvent,
  usageAccountPrefix,
} from "../src/domain/ledger/accounts/usage-account.ts";
import type { Projection } from "./projection.ts";

/** A key's usage in one month, as far as it is posted. */
interface MonthlyUsage extends UsageAccount {
  /**
   * The last folded revision, -1 before the first: an event that is delivered twice counts once.
   */
  readonly revision: number;
}

/**
 * How much of its monthly quota each key has used: the sum of the postings to the key's usage
 * account. EventStoreDB servers run this projection. A serving is posted within 15 minutes.
 * Reservations are in the `quota-` streams, the quota itself in the key's plan. Partition:
 * `usage-{apiKey}-{yyyy-mm}`.
 */
export const monthlyQuota: Projection<MonthlyUsage> = {
  name: "monthly-quota",
  version: 4,
  prefixes: [usageAccountPrefix],
  partition: ({ stream }) => stream,
  initial: () => ({ ...initialUsageAccount(), revision: -1 }),
  apply: (usage, event) =>
    event.revision <= usage.revision
      ? usage
      : { ...evolveUsageAccount(usage, event as unknown as UsageAccountEvent), revision: event.revision },
};
