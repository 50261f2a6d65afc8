import { repeatEvery } from "../async/repeat.ts";
import { sleep } from "../async/sleep.ts";
import { backgroundTime, type Time } from "../async/time.ts";
import type { JournalClosed, JournalEvent } from "../domain/ledger/journal/journal.ts";
import type { VoidedServing } from "../domain/ledger/journal/serving.ts";
import { monthOf } from "../domain/ledger/month.ts";
import type { EpochMs } from "../domain/time.ts";
import { type CommandHandler, createCommandHandler } from "../eventstore/command-handler.ts";
import type { EventStore } from "../eventstore/event-store.ts";
import { throwUnavailable } from "../eventstore/store-error.ts";
import { type CloseUsageAccountsOptions, createCloseUsageAccounts } from "./accounts/close-usage-accounts.ts";
import { KnownEntries } from "./accounts/known-entries.ts";
import { createBackgroundTasks } from "./background-tasks.ts";
import { createLedger } from "./create-ledger.ts";
import { createIdempotencyClaims } from "./idempotency/idempotency-claims.ts";
import { createIdempotencyKeys } from "./idempotency/idempotency-keys.ts";
import { createRecoverIdempotencyKeys } from "./idempotency/recover-idempotency-keys.ts";
import { closeJournal } from "./journal/close-journal.ts";
import { createJournalRegistry, type JournalRegistry } from "./journal/journal-registry.ts";
import type { Ledger, OnCharged } from "./ledger.ts";
import { settleVoids } from "./quota/settle-voids.ts";
import { createForeignJournals } from "./session/foreign-journals.ts";
import { openSession } from "./session/open-session.ts";
import { RecentCharges } from "./session/recent-charges.ts";
import {
  createRecoverJournal,
  createSweepIdleJournals,
  type SweepOptions,
} from "./session/recover-journals.ts";
import { Sessions } from "./session/sessions.ts";

export interface OpenLedgerOptions {
  /** Must deliver well-formed events only: see `validatedEventStore`. */
  readonly store: EventStore;
  readonly handler: CommandHandler;
  /** Receives the unposted entries of this process, and those of others. */
  readonly knownEntries?: KnownEntries;
  readonly clock: () => EpochMs;
  /** Measures deadlines, delays and schedules. */
  readonly time?: Time;
  /** Resolves when this instance's views show the position. */
  readonly untilVisible: (position: number) => Promise<void>;
  /** All keys, for closing the accounts of past months. */
  readonly apiKeys?: () => Iterable<string>;
  /** @throws {Unavailable} if this machine's clock is wrong */
  readonly requireCorrectClock?: () => void;
  /** Rejects with {Unavailable} if this machine's clock may be wrong. */
  readonly requireMeasuredClock?: () => Promise<void>;
  /** Called with the events of this process's journals when they are durable. */
  readonly onRecorded?: (events: readonly JournalEvent[]) => void;
  /**
   * Called with each durable serving in this process's journal, except those that are voided
   * because their deadline has passed.
   */
  readonly onCharged?: OnCharged;
  /** Called with the durable events of other processes' journals. */
  readonly onOthersRecorded?: (events: readonly JournalEvent[]) => void;
  /**
   * Called once, before `onOthersRecorded`, which is not called for events up to this position of
   * the log.
   */
  readonly onFollowing?: (fromExclusive: number) => void;
  /** Called when a request does not fit into the key's quota. */
  readonly onQuotaExceeded?: (apiKey: string) => void;
  /** Called when a journal is being opened, and when it has left the registry. */
  readonly onJournal?: (journal: string, isOpen: boolean) => void;
  /** The number of processes of this machine that write to the event store. Default: 1. */
  readonly processes?: number;
  /** The time that a request may wait for its append. Default: 5,000. */
  readonly deadlineMs?: number;
  readonly onError: (what: string, error: unknown) => void;
}

export interface OpenLedger {
  readonly ledger: Ledger;
  /** The number of entries of this process's journals that are not durable yet. */
  readonly pendingEntries: () => number;
  /**
   * Takes over the journal of a process that is known to have ended.
   * @throws {Unavailable}
   */
  readonly recoverJournal: (journal: string) => Promise<void>;
  /** The number of idle journals of ended processes that the last sweep could not recover. */
  readonly unrecoveredJournals: () => number;
  /** The number of other programs' journals that had events since the start. */
  readonly foreignJournals: () => number;
  /** Resolves when everything recorded so far is durable. */
  drained(): Promise<void>;
  /**
   * Records pending entries, returns reserved characters and closes the journal. Waits at most
   * `timeoutMs` for an event store that is not available.
   */
  close(timeoutMs: number): Promise<void>;
}

/** An unused journal is closed after this time, so that its month can be closed. */
const idleMs = 10 * 60_000;
/**
 * The interval at which idle journals are closed, and journals of processes that are gone are
 * recovered.
 */
const checkMs = 60_000;

const defaults = {
  time: backgroundTime,
  apiKeys: () => [],
  requireCorrectClock: () => {},
  requireMeasuredClock: async () => {},
  onRecorded: () => {},
  onCharged: () => {},
  onOthersRecorded: () => {},
  onFollowing: () => {},
  onQuotaExceeded: () => {},
  onJournal: () => {},
  processes: 1,
};

/**
 * Opens this process's journal and everything that records servings.
 * @throws {Unavailable}
 * @throws {EventStoreUnavailable}
 */
export const openLedger = async (given: OpenLedgerOptions): Promise<OpenLedger> => {
  const { knownEntries = new KnownEntries() } = given;
  const options = { ...defaults, ...given, knownEntries };
  const { store, handler, clock, time, onError } = options;
  const registry = reportingRegistry(createJournalRegistry(handler, clock), options.onJournal);
  const foreignJournals = createForeignJournals(store, onError);
  const recentCharges = new RecentCharges({
    ...options,
    onFollowed: options.onOthersRecorded,
    onBatch: (events) => {
      foreignJournals.follow(events);
      knownEntries.follow(events);
    },
  });
  const close = (journal: string, reason: JournalClosed["reason"]) =>
    closeJournal(store, clock, journal, reason, time).catch(throwUnavailable);
  const idempotencyKeys = createIdempotencyKeys(options);
  const onVoided = (voids: readonly VoidedServing[]) => ledger.recordLost(voids, []);
  const recoverIdempotencyKeys = createRecoverIdempotencyKeys({ ...options, idempotencyKeys, onVoided });
  const recovery = { ...options, closeJournal: close, registry, recoverIdempotencyKeys };
  const recoverJournal = createRecoverJournal(recovery);
  let unrecovered = 0;
  const onSwept = (failed: number): void => {
    unrecovered = failed;
  };
  const maintain = createMaintenance({ ...recovery, recoverJournal, onSwept });
  let lastFlushAt = time.now();
  const noteFlush = (): void => {
    lastFlushAt = time.now();
  };
  // Settlements have a separate handler. In the queues of `handler`, commands of a journal that was
  // taken over may still wait for the event store.
  const settlements = createCommandHandler({ store, clock, time });
  const sessions = new Sessions({
    create: () =>
      openSession({
        ...options,
        registry,
        recentCharges,
        closeJournal: close,
        onFlushed: (events) => {
          noteFlush();
          options.onRecorded(events);
        },
        onUnusable: (session) => sessions.takeOver(session),
        onExpired: (receipt) => {
          const { apiKey, characters } = receipt.serving;
          // The serving counts, because its charge stays if a repeat was served on it.
          options.onCharged(apiKey, monthOf(receipt.at), characters, true);
          void ledger.voidServing(receipt);
        },
        onLost: ({ voids, streams }) => ledger.recordLost(voids, streams),
      }).finally(noteFlush),
    // This process's own journal is still open here only if its reservations were settled, or
    // differ from those in the quota stream.
    takeOver: (journal) => close(journal, "unresponsive"),
    settleVoids: (journal) => settleVoids({ ...options, handler: settlements }, journal),
    forgetJournal: registry.forget,
    onError,
  });
  const background = createBackgroundTasks(options);
  const claims = createIdempotencyClaims(
    {
      ...options,
      idempotencyKeys,
      openJournal: async () => (await sessions.open()).writer.journal,
      closeJournal: (journal) => close(journal, "unresponsive"),
    },
    background,
  );
  const ledger = createLedger({ ...options, sessions, recentCharges, idempotencyKeys, claims }, background);
  // A slow event store must not prevent the start. If this fails, the first request opens a
  // journal.
  await sessions.open().catch((error) => onError("no journal could be opened yet", error));
  const stopChecks = repeatEvery(checkMs, time, async () => {
    if (time.now() - lastFlushAt >= idleMs) await sessions.close("idle");
    await maintain(sessions.current?.writer.journal);
  });

  return {
    ledger,
    pendingEntries: () => sessions.pending,
    recoverJournal: (journal) => recoverJournal(journal, "silent"),
    unrecoveredJournals: () => unrecovered,
    foreignJournals: foreignJournals.count,
    drained: () => ledger.drained().then(() => sessions.current?.writer.flushed()),
    close: async (timeoutMs) => {
      stopChecks();
      await Promise.race([closeJournals(ledger, sessions), sleep(timeoutMs, { time })]);
      ledger.close();
      sessions.stop();
      recentCharges.close();
      reportLost(sessions.pending, onError);
    },
  };
};

/**
 * Recovers the journals of processes that are gone, then closes the usage accounts of past months.
 */
const createMaintenance = (options: CloseUsageAccountsOptions & SweepOptions) => {
  const sweepIdleJournals = createSweepIdleJournals(options);
  const closeAccounts = createCloseUsageAccounts(options);
  return async (ownJournal: string | undefined): Promise<void> => {
    await sweepIdleJournals(ownJournal);
    await closeAccounts();
  };
};

const reportingRegistry = (
  registry: JournalRegistry,
  onJournal: (journal: string, isOpen: boolean) => void,
): JournalRegistry => ({
  ...registry,
  open: async (journal) => {
    onJournal(journal, true);
    return await registry.open(journal);
  },
  forget: async (journal) => {
    await registry.forget(journal);
    onJournal(journal, false);
  },
});

const reportLost = (pending: number, onError: OpenLedgerOptions["onError"]): void => {
  if (pending > 0) onError("entries of the journal may be lost", new Error(`${pending} are not durable`));
};

/**
 * Background tasks end first: they still record servings and voids. Then the journal ends, in the
 * order that `Sessions` documents. A journal that is taken over at the last moment hands its
 * entries over to another one, which is closed too.
 */
const closeJournals = async (ledger: Ledger, sessions: Sessions): Promise<void> => {
  do {
    await ledger.drained();
    await sessions.close("shutdown");
  } while (ledger.backgroundEntries > 0);
};
