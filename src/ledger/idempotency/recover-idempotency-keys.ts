import pLimit from "p-limit";
import { isOfType } from "../../domain/event-shapes.ts";
import { idempotencyMs } from "../../domain/ledger/idempotency.ts";
import { type JournalEvent, journalStream } from "../../domain/ledger/journal/journal.ts";
import type { Serving, VoidedServing } from "../../domain/ledger/journal/serving.ts";
import { expandServings } from "../../domain/ledger/journal/serving-columns.ts";
import type { EpochMs } from "../../domain/time.ts";
import { type EventStore, type RecordedEvent, readLastEvent } from "../../eventstore/event-store.ts";
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
 * Records the uses of Idempotency-Keys that were not recorded before the process was gone, so that
 * repeats are free: a process charges a request before it records the use of its key. If a repeat
 * is charged already, the charge in this journal is voided. If the process has certainly ended
 * (`hasEnded`), charges are also voided that it has released and did not void. Idempotent.
 * @throws {Unavailable}
 * @throws {EventStoreUnavailable}
 */
export type RecoverIdempotencyKeys = (journal: string, hasEnded: boolean) => Promise<void>;

const maxConcurrent = 8;

export const createRecoverIdempotencyKeys =
  ({ store, idempotencyKeys, clock, onVoided }: RecoverIdempotencyKeysOptions): RecoverIdempotencyKeys =>
  async (journal, hasEnded) => {
    const servings = await readRecoverableServings(store, journal, clock() - idempotencyMs);
    const cannotVoid = hasEnded && (await isClosedAfterEnd(store, journal));
    await pLimit(maxConcurrent).map(servings, async (serving) => {
      if (!(await idempotencyKeys.recover(serving, cannotVoid))) return;
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
    if (Date.parse(event.data.at) < oldest) break;
    if (event.type === "ServingsVoided")
      for (const { requestId } of event.data.servings) voided.add(requestId);
    if (event.type !== "SynthesesServed" || event.data.details === undefined) continue;
    for (const serving of expandServings(event.data)) {
      const { idempotency, repeat, requestId } = serving;
      if (idempotency && !repeat && !voided.has(requestId))
        servings.push({ ...serving, idempotency, at: event.data.at });
    }
  }
  return servings.toReversed();
};

/**
 * True unless the process has noticed that the journal was closed: then it has continued in another
 * one, which may have its voids.
 */
const isClosedAfterEnd = async (store: EventStore, journal: string): Promise<boolean> => {
  const last = await readLastEvent(store, journalStream(journal));
  return (
    last !== undefined &&
    isOfType<Closed, RecordedEvent>(last, ["JournalClosed"]) &&
    last.data.reason === "silent"
  );
};

type Closed = Extract<JournalEvent, { readonly type: "JournalClosed" }>;
