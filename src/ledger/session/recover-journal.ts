import { exponentialBackoff, retry } from "../../async/retry.ts";
import { PostingOutOfOrder } from "../../domain/ledger/accounts/usage-account.ts";
import type { JournalClosed } from "../../domain/ledger/journal/journal.ts";
import { type PostOnBehalfOptions, postOnBehalf } from "../accounts/post-on-behalf.ts";
import type { RecoverIdempotencyKeys } from "../idempotency/recover-idempotency-keys.ts";
import type { JournalRegistry } from "../journal/journal-registry.ts";
import { type SettleVoidsOptions, settleVoids } from "../quota/settle-voids.ts";

/**
 * Recovers the journal of a process that is gone: closes it, records the uses of its
 * Idempotency-Keys, posts what is unposted, settles the quotas of its last voids and retires it.
 * Idempotent, also if several instances do it concurrently.
 * @throws {Unavailable}: call it again
 */
export type RecoverJournal = (journal: string, reason: JournalClosed["reason"]) => Promise<void>;

export interface RecoverJournalOptions extends Omit<PostOnBehalfOptions, "journal">, SettleVoidsOptions {
  /**
   * Appends `JournalClosed` unless the journal is closed. Resolves with the revision of
   * `JournalClosed`.
   * @throws {Unavailable}
   */
  readonly closeJournal: (journal: string, reason: JournalClosed["reason"]) => Promise<number>;
  readonly registry: Pick<JournalRegistry, "retire">;
  readonly recoverIdempotencyKeys: RecoverIdempotencyKeys;
}

/** Another process that posts the same journal has a finite number of postings. */
const maxAttempts = 10;
const backoff = { firstMs: 50, maxMs: 2_000 };

export const createRecoverJournal =
  ({ closeJournal, registry, recoverIdempotencyKeys, ...options }: RecoverJournalOptions): RecoverJournal =>
  async (journal, reason) => {
    const closedRevision = await closeJournal(journal, reason);
    await recoverIdempotencyKeys(journal);
    const delayAfter = (outcome: object, attempt: number) =>
      "error" in outcome && outcome.error instanceof PostingOutOfOrder && attempt < maxAttempts
        ? exponentialBackoff(backoff, attempt)
        : undefined;
    await retry({ delayAfter, clock: options.timers }, () =>
      postOnBehalf({ ...options, journal }, closedRevision),
    );
    await settleVoids(options, journal);
    await registry.retire(journal);
  };
