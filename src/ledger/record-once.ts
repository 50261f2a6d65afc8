import pLimit from "p-limit";
import type { Receipt } from "../domain/ledger/journal/serving.ts";
import type { Admissions } from "./admissions.ts";
import type { IdempotencyKeys } from "./idempotency/idempotency-keys.ts";
import type { Admission, ChargedKey, Ledger, NewIdempotentServing } from "./ledger.ts";
import type { Charge, Recorder } from "./recorder.ts";

interface RecordOnceOptions {
  readonly admissions: Pick<Admissions, "admit">;
  readonly recorder: Pick<Recorder, "recordAfterReads" | "voidServing">;
  readonly idempotencyKeys: Pick<IdempotencyKeys, "isCharged" | "recordRepeat">;
}

/** The most reads of one call that are in progress at once. */
const maxReads = 64;

/**
 * Records several servings, each once whatever the number of requests and processes.
 *
 * Only the smallest key is claimed, and it is charged last: requests with the same servings wait
 * for that one claim. So a process never waits while it has a claim, and no two processes wait for
 * each other. Requests that share only some of their servings may record one twice: then its
 * Idempotency-Key decides, and the later charge is voided.
 */
export const createRecordOnce = ({
  admissions,
  recorder,
  idempotencyKeys,
}: RecordOnceOptions): Ledger["recordOnce"] => {
  /** The charge of audio that will be made again is not voided any more. */
  const findUncharged = async (
    { apiKey }: ChargedKey,
    served: readonly NewIdempotentServing[],
  ): Promise<NewIdempotentServing[]> => {
    const charged = await pLimit(maxReads).map(served, (one) =>
      one.cached === "miss"
        ? idempotencyKeys.recordRepeat({ ...one, apiKey })
        : idempotencyKeys.isCharged({ ...one, apiKey }),
    );
    return served.filter((_, index) => !charged[index]);
  };

  const recordAll = async (
    principal: ChargedKey,
    [first, ...others]: readonly [NewIdempotentServing, ...NewIdempotentServing[]],
    { hold, claim }: Pick<Admission, "hold" | "claim">,
  ): Promise<Receipt[]> => {
    const [holdOfFirst, ...holds] =
      hold?.divide([first, ...others].map(({ characters }) => characters)) ?? [];
    const { apiKey } = principal;
    const recordOne = (served: NewIdempotentServing, charge: Charge): Promise<Receipt> =>
      recorder.recordAfterReads(charge, { ...served, apiKey }, true);
    const settled = await Promise.allSettled(
      others.map((served, index) => recordOne(served, { principal, hold: holds[index] })),
    );
    const receipts = settled.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    try {
      for (const each of settled) if (each.status === "rejected") throw each.reason;
      receipts.push(await recordOne(first, { principal, hold: holdOfFirst }));
    } catch (error) {
      for (const receipt of receipts) void recorder.voidServing(receipt);
      for (const each of [holdOfFirst, ...holds]) each?.release();
      throw error;
    }
    claim?.charged();
    return receipts;
  };

  return async (principal, served, signal) => {
    for (;;) {
      const uncharged = await findUncharged(principal, served);
      const [first, ...others] = uncharged.sort(byKey);
      if (!first) return [];
      const { requestId, idempotency } = first;
      const claimed = await admissions.admit(principal, { requestId, characters: 0, idempotency }, signal);
      if (claimed.isRepeat) continue;
      try {
        // A request with another first serving may have recorded some of the others meanwhile.
        const due = [first, ...(await findUncharged(principal, others))] as const;
        const characters = due.reduce((sum, one) => sum + one.characters, 0);
        const { hold } = await admissions.admit(principal, { requestId, characters }, signal);
        return await recordAll(principal, due, { hold, claim: claimed.claim });
      } catch (error) {
        claimed.release();
        throw error;
      }
    }
  };
};

const byKey = (a: NewIdempotentServing, b: NewIdempotentServing): number =>
  a.idempotency.key < b.idempotency.key ? -1 : 1;
