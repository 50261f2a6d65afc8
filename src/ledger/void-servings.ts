import type { Receipt, Serving, VoidedServing } from "../domain/ledger/journal/serving.ts";
import type { IdempotencyKeys, IdempotentRequest } from "./idempotency/idempotency-keys.ts";
import { voidOf } from "./journal/journal-flush.ts";
import type { Sessions } from "./session/sessions.ts";

export type IdempotentServing = Serving & IdempotentRequest;

export const hasIdempotencyKey = (serving: Serving): serving is IdempotentServing =>
  serving.idempotency !== undefined;

interface VoidOptions {
  readonly sessions: Sessions;
  readonly idempotencyKeys: IdempotencyKeys;
}

/**
 * Voids a charge, unless a repeat was served on it.
 * @throws {Unavailable} @throws {JournalTakenOver}: call it again
 */
export const voidUnlessRepeated = async (options: VoidOptions, receipt: Receipt): Promise<void> => {
  const { serving } = receipt;
  const isReleased =
    !hasIdempotencyKey(serving) || serving.repeat || (await options.idempotencyKeys.release(serving));
  if (isReleased) await voidCharge(options, receipt, "unanswered");
};

/**
 * Voids a charge in the current journal, which may be a later one.
 * @throws as `voidUnlessRepeated` does
 */
export const voidCharge = async (
  { sessions }: Pick<VoidOptions, "sessions">,
  { journal, serving, at }: Receipt,
  reason: VoidedServing["reason"],
): Promise<void> => {
  const voided = { ...voidOf(serving, at), reason };
  const { writer } = await sessions.open();
  writer.addVoids([writer.journal === journal ? voided : { ...voided, journal }]);
};
