import { afterErrors, retry } from "../../async/retry.ts";
import type { Time } from "../../async/time.ts";
import { PostingOutOfOrder } from "../../domain/ledger/accounts/usage-account.ts";
import { type JournalClosed, journalStream } from "../../domain/ledger/journal/journal.ts";
import { journalRegistryStream } from "../../domain/ledger/journal/journal-registry.ts";
import { type EventStore, type RecordedEvent, readLastEvent } from "../../eventstore/event-store.ts";
import { type PostOnBehalfOptions, postOnBehalf } from "../accounts/post-on-behalf.ts";
import type { RecoverIdempotencyKeys } from "../idempotency/recover-idempotency-keys.ts";
import {
  type JournalRegistry,
  listOpenJournals,
  readRegistryBackwards,
} from "../journal/journal-registry.ts";
import { type SettleVoidsOptions, settleVoids } from "../quota/settle-voids.ts";

/**
 * Recovers the journal of a process that is gone: closes it, records the uses of its
 * Idempotency-Keys, posts what is unposted, settles the quotas of its last voids and removes it
 * from the registry. Idempotent, also if several instances do it concurrently.
 * @throws {Unavailable} if it must be called again
 */
export type RecoverJournal = (journal: string, reason: JournalClosed["reason"]) => Promise<void>;

export interface RecoverJournalOptions extends Omit<PostOnBehalfOptions, "journal">, SettleVoidsOptions {
  /**
   * Appends `JournalClosed` unless the journal is closed. Resolves with the revision of
   * `JournalClosed`.
   * @throws {Unavailable}
   */
  readonly closeJournal: (journal: string, reason: JournalClosed["reason"]) => Promise<number>;
  readonly registry: Pick<JournalRegistry, "forget">;
  readonly recoverIdempotencyKeys: RecoverIdempotencyKeys;
}

/**
 * Another process may post the same journal. A journal has a finite number of postings, so retries
 * end.
 */
const afterOtherPostings = afterErrors((error) => error instanceof PostingOutOfOrder, {
  firstMs: 50,
  maxMs: 2_000,
  maxAttempts: 10,
});

export const createRecoverJournal =
  ({ closeJournal, registry, recoverIdempotencyKeys, ...options }: RecoverJournalOptions): RecoverJournal =>
  async (journal, reason) => {
    const closedRevision = await closeJournal(journal, reason);
    await recoverIdempotencyKeys(journal);
    await retry({ delayAfter: afterOtherPostings, time: options.time }, () =>
      postOnBehalf({ ...options, journal }, closedRevision),
    );
    await settleVoids(options, journal);
    await registry.forget(journal);
  };

export interface SweepOptions {
  readonly store: EventStore;
  readonly recoverJournal: RecoverJournal;
  readonly time: Time;
  readonly onError: (what: string, error: unknown) => void;
  /** Called after a sweep with the number of journals that it could not recover. */
  readonly onSwept?: (failed: number) => void;
  /** A journal is recovered after this time without an event. Default: 15 minutes. */
  readonly idleMs?: number;
}

/**
 * Recovers the journals of processes that are gone: those without an event for 15 minutes, and
 * closed ones that are still in the registry after a minute. Skips `own`. Never rejects: failures
 * are reported, and the next sweep tries again.
 */
type SweepIdleJournals = (own?: string) => Promise<void>;

const correctedMs = 60_000;
/**
 * The process that closed a journal usually posts it and removes it from the registry itself, at
 * once.
 */
const forgetMs = 60_000;

export const createSweepIdleJournals = ({
  store,
  recoverJournal,
  time,
  onError,
  onSwept = () => {},
  idleMs = 15 * 60_000,
}: SweepOptions): SweepIdleJournals => {
  const storeTime = createStoreTime(time);

  const sweep = async (own: string | undefined): Promise<void> => {
    const open = await listOpenJournals(store);
    const ends = new Map<string, RecordedEvent>();
    for (const journal of open) {
      const end = (await readLastEvent(store, journalStream(journal))) ?? (await openingOf(store, journal));
      if (!end) continue;
      storeTime.observe(end);
      if (journal !== own) ends.set(journal, end);
    }
    const registry = await readLastEvent(store, journalRegistryStream);
    if (registry) storeTime.observe(registry);
    let failed = 0;
    for (const [journal, { type, created }] of ends) {
      // An event with a future time comes from a wrong clock. The process that recorded it has
      // closed its journal, or is gone.
      const idleForMs = Math.abs(storeTime.now() - created);
      if (idleForMs < (type === "JournalClosed" ? forgetMs : idleMs)) continue;
      await recoverJournal(journal, "silent").catch((error) => {
        failed += 1;
        onError(`the idle journal ${journal} could not be recovered`, error);
      });
    }
    onSwept(failed);
  };

  return async (own) => {
    try {
      await sweep(own);
    } catch (error) {
      onError("idle journals could not be found", error);
    }
  };
};

/**
 * A lower bound of the store's clock, which this process cannot read: the time of an event that was
 * seen, plus the time since. The clocks of processes differ; that of the store is the same for all.
 */
const createStoreTime = (time: Time) => {
  let offset = Number.NEGATIVE_INFINITY;
  let last: Pick<RecordedEvent, "position" | "created"> | undefined;
  return {
    /** If a later event has a much earlier time, the log's times were corrected between the two. */
    observe: ({ position, created }: RecordedEvent): void => {
      if (last && position <= last.position) return;
      const isCorrected = last !== undefined && last.created - created > correctedMs;
      offset = isCorrected ? created - time.now() : Math.max(offset, created - time.now());
      last = { position, created };
    },
    now: (): number => time.now() + offset,
  };
};

/** The registration of a journal without events. */
const openingOf = async (store: EventStore, journal: string): Promise<RecordedEvent | undefined> => {
  for await (const event of readRegistryBackwards(store)) {
    if (event.type === "JournalOpened" && event.data.journal === journal) return event;
  }
  return undefined;
};
