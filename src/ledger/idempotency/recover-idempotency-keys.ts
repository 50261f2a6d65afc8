import pLimit from "p-limit";
import { idempotencyMs } from "../../domain/ledger/idempotency.ts";
import type { Serving, VoidedServing } from "../../domain/ledger/journal/serving.ts";
import { expandServings } from "../../domain/ledger/journal/serving-columns.ts";
import type { EpochMs } from "../../domain/time.ts";
import type { EventStore } from "../../eventstore/event-store.ts";
import { voidOf } from "../journal/journal-flush.ts";
import { readLastMinute } from "../journal/journal-reader.ts";
import type { IdempotencyKeys, IdempotentRequest } from "./idempotency-keys.ts";

interface RecoverIdempotencyKeysOptions {
  readonly store: EventStore;
  readonly idempotencyKeys: Pick<IdempotencyKeys, "recover">;
  readonly clock: () => EpochMs;
  /**
   * Called with the void of a charge, if another request with the same Idempotency-Key is charged.
   */
  readonly onVoided: (voids: readonly VoidedServing[]) => void;
}

/**
 * Records the uses of Idempotency-Keys whose requests the journal has charged, but whose uses its
 * process did not record before it ended. So repeats of these requests are free. If a repeat is
 * charged already, the charge in this journal is voided. Idempotent.
 * @throws {Unavailable}
 * @throws {EventStoreUnavailable}
 */
export type RecoverIdempotencyKeys = (journal: string) => Promise<void>;

const maxConcurrent = 8;

export const createRecoverIdempotencyKeys =
  ({ store, idempotencyKeys, clock, onVoided }: RecoverIdempotencyKeysOptions): RecoverIdempotencyKeys =>
  async (journal) => {
    const servings = await readRecoverableServings(store, journal, clock() - idempotencyMs);
    await pLimit(maxConcurrent).map(servings, async (serving) => {
      if (!(await idempotencyKeys.recover(serving))) return;
      onVoided([{ ...voidOf(serving, serving.at), journal, reason: "repeat" }]);
    });
  };

type RecoverableServing = Serving & IdempotentRequest & { readonly at: string };

/** Reads the servings of the journal's last minute that are charged and not voided. */
const readRecoverableServings = async (
  store: EventStore,
  journal: string,
  oldest: number,
): Promise<RecoverableServing[]> => {
  const servings: RecoverableServing[] = [];
  const voided = new Set<string>();
  for await (const event of readLastMinute(store, journal)) {
    if (event.type === "ServingsVoided")
      for (const { requestId } of event.data.servings) voided.add(requestId);
    if (event.type !== "SynthesesServed" || event.data.details === undefined) continue;
    for (const serving of expandServings(event.data)) {
      const { idempotency, repeat, requestId } = serving;
      const { at } = event.data;
      if (!idempotency || repeat || voided.has(requestId)) continue;
      const isExpired = idempotency.website === undefined && Date.parse(at) < oldest;
      if (!isExpired) servings.push({ ...serving, idempotency, at });
    }
  }
  return servings.toReversed();
};
