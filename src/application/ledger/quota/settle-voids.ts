import pLimit from "p-limit";
import { monthOf } from "../../../domain/ledger/month.ts";
import { quotaDecider, quotaStream, settleReservations } from "../../../domain/ledger/quota.ts";
import type { CommandHandler } from "../../../eventstore/command-handler.ts";
import type { EventStore } from "../../../eventstore/event-store.ts";
import { isoClock } from "../../iso-clock.ts";
import { readLastMinute } from "../journal/journal-reader.ts";
import { createUsageReader } from "../usage-accounts/usage-reader.ts";

export interface SettleVoidsOptions {
  readonly store: EventStore;
  readonly handler: Pick<CommandHandler, "execute">;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

const maxConcurrent = 8;

/**
 * A process that is killed between a void and the statement of its lower total leaves a total in the quota stream that nobody
 * recalls, because the journal holds no characters. Settles the quotas of the keys of which a closed journal's last minute has voids.
 * Idempotent. @throws {EventStoreUnavailable} @throws as `CommandHandler.execute` does
 */
export const settleVoids = async (
  { store, handler, clock }: SettleVoidsOptions,
  journal: string,
): Promise<void> => {
  const { spentBy } = createUsageReader({ store });
  await pLimit(maxConcurrent).map(await readVoided(store, journal), async ([stream, { apiKey, month }]) => {
    const total = await spentBy(journal, apiKey, month);
    const at = isoClock(clock)();
    await handler.execute(
      quotaDecider,
      stream,
      (quota) => settleReservations(quota, [{ journal, total }], at),
      { actor: "system" },
    );
  });
};

/** By quota stream. */
const readVoided = async (
  store: EventStore,
  journal: string,
): Promise<Map<string, { readonly apiKey: string; readonly month: string }>> => {
  const voided = new Map<string, { apiKey: string; month: string }>();
  for await (const event of readLastMinute(store, journal)) {
    if (event.type !== "ServingsVoided") continue;
    for (const { apiKey, servedAt } of event.data.servings) {
      const month = monthOf(servedAt);
      voided.set(quotaStream(apiKey, month), { apiKey, month });
    }
  }
  return voided;
};
