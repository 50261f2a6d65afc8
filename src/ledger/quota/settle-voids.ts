import pLimit from "p-limit";
import { isoClock } from "../../async/iso-clock.ts";
import { monthOf } from "../../domain/ledger/month.ts";
import {
  type Quota,
  type QuotaEvent,
  quotaDecider,
  quotaStream,
  settleReservations,
} from "../../domain/ledger/quota/quota.ts";
import type { EpochMs } from "../../domain/time.ts";
import type { CommandHandler } from "../../eventstore/command-handler.ts";
import type { EventStore } from "../../eventstore/event-store.ts";
import { postedBy } from "../accounts/usage-reader.ts";
import { readLastMinute } from "../journal/journal-reader.ts";

export interface SettleVoidsOptions {
  readonly store: EventStore;
  readonly handler: Pick<CommandHandler, "execute">;
  readonly clock: () => EpochMs;
}

const maxConcurrent = 8;

/**
 * Settles the quotas of keys with voids in the last minute of a closed journal. Call it when the
 * journal is posted completely. A journal without a reservation states its lower total after a
 * void. If its process ended before that, other journals would count the voided characters until
 * the end of the month. Idempotent.
 * @throws {EventStoreUnavailable}
 * @throws as `CommandHandler.execute` does
 */
export const settleVoids = async (
  { store, handler, clock }: SettleVoidsOptions,
  journal: string,
): Promise<void> => {
  await pLimit(maxConcurrent).map(await readVoided(store, journal), async ([stream, voided]) => {
    const execute = (decide: (quota: Quota) => QuotaEvent[]) =>
      handler.execute(quotaDecider, stream, decide, { actor: "system" });
    const share = (await execute(() => [])).state.shares.get(journal);
    // Without a share, either the key had no quota, or voids of other journals' servings make this
    // journal's total negative.
    if (share ? share.status === "settled" : !voided.isOfOtherJournal) return;
    const total = await postedBy({ store }, journal, voided.apiKey, voided.month);
    await execute((quota) => settleReservations(quota, [{ journal, total }], isoClock(clock)()));
  });
};

interface VoidedKey {
  readonly apiKey: string;
  readonly month: string;
  /** True if one of the voids is of another journal's serving. */
  readonly isOfOtherJournal: boolean;
}

/** Returns the voided keys by quota stream. */
const readVoided = async (store: EventStore, journal: string): Promise<Map<string, VoidedKey>> => {
  const keys = new Map<string, VoidedKey>();
  for await (const event of readLastMinute(store, journal)) {
    if (event.type !== "ServingsVoided") continue;
    for (const voided of event.data.servings) {
      const { apiKey, servedAt } = voided;
      const month = monthOf(servedAt);
      const stream = quotaStream(apiKey, month);
      const isOfOtherJournal = voided.journal !== undefined || keys.get(stream)?.isOfOtherJournal === true;
      keys.set(stream, { apiKey, month, isOfOtherJournal });
    }
  }
  return keys;
};
