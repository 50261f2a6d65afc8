import { isoClock } from "../../async/iso-clock.ts";
import {
  carryOverUsage,
  quotaDecider,
  quotaStream,
  type SpentTotal,
} from "../../domain/ledger/quota/quota.ts";
import type { EpochMs } from "../../domain/time.ts";
import type { CommandHandler } from "../../eventstore/command-handler.ts";

/**
 * Counts the usage of a key without a quota against the quota that its new plan has. Call it before
 * the plan is changed, and again afterwards for characters that were spent in between. Idempotent.
 * @throws {Unavailable}
 */
type CarryOverUsage = (apiKey: string, month: string) => Promise<void>;

export const createCarryOverUsage = (
  handler: Pick<CommandHandler, "execute">,
  /** Reads what each journal has spent in the month, from the accounts and the unposted entries. */
  totalsOf: (apiKey: string, month: string) => Promise<readonly SpentTotal[]>,
  clock: () => EpochMs,
): CarryOverUsage => {
  const now = isoClock(clock);
  return async (apiKey, month) => {
    const totals = await totalsOf(apiKey, month);
    const stream = quotaStream(apiKey, month);
    await handler.execute(quotaDecider, stream, (quota) => carryOverUsage(quota, totals, now()), {
      actor: "system",
    });
  };
};
