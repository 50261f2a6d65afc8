import type { Time } from "../../async/time.ts";
import type { JournalClosed } from "../../domain/ledger/journal/journal.ts";
import type { Receipt } from "../../domain/ledger/journal/serving.ts";
import { monthOf } from "../../domain/ledger/month.ts";
import type { EpochMs } from "../../domain/time.ts";
import { type CommandHandler, OutcomeUnknown } from "../../eventstore/command-handler.ts";
import type { EventStore } from "../../eventstore/event-store.ts";
import { throwUnavailable } from "../../eventstore/store-error.ts";
import { uuidv7 } from "../../eventstore/uuid.ts";
import type { KnownEntries } from "../accounts/known-entries.ts";
import { Postings } from "../accounts/postings.ts";
import { spentBy } from "../accounts/usage-reader.ts";
import type { FlushedEvent, LostEntries } from "../journal/journal-flush.ts";
import type { JournalRegistry } from "../journal/journal-registry.ts";
import { JournalWriter } from "../journal/journal-writer.ts";
import { Reservations } from "../quota/reservations.ts";
import type { RecentCharges } from "./recent-charges.ts";
import type { Session } from "./sessions.ts";

interface SessionOptions {
  readonly store: EventStore;
  readonly handler: CommandHandler;
  readonly clock: () => EpochMs;
  readonly time: Time;
  readonly registry: JournalRegistry;
  readonly recentCharges: RecentCharges;
  readonly knownEntries: KnownEntries;
  /**
   * Closes the journal of any process.
   * @throws {Unavailable}
   */
  readonly closeJournal: (journal: string, reason: JournalClosed["reason"]) => Promise<number>;
  readonly deadlineMs?: number;
  readonly processes: number;
  /** Called with the journal's events when they are durable. */
  readonly onFlushed: (events: readonly FlushedEvent[]) => void;
  /** Called when the journal cannot be used any more. */
  readonly onUnusable: (session: Session) => void;
  /** Called with a durable serving with an Idempotency-Key, if its caller was refused. */
  readonly onExpired: (receipt: Receipt) => void;
  /** Called with the entries that belong in the next journal. */
  readonly onLost: (lost: LostEntries) => void;
  readonly onError: (what: string, error: unknown) => void;
}

/**
 * Registers a new journal and opens everything that belongs to it.
 * @throws {Unavailable}
 */
export const openSession = async (options: SessionOptions): Promise<Session> => {
  const { registry, recentCharges, knownEntries, closeJournal, deadlineMs, processes, onError } = options;
  const { store, handler, clock, time } = options;
  const journal = uuidv7(clock());
  const fromExclusive = await registry.open(journal);
  await recentCharges.follow(journal, fromExclusive).catch(throwUnavailable);
  const shared = { store, clock, time, journal };
  const stopping = new AbortController();
  const writer = new JournalWriter({
    ...shared,
    processes,
    signal: stopping.signal,
    ...(deadlineMs !== undefined && { deadlineMs }),
    onFlushed: (events) => {
      postings.add(events);
      recentCharges.add(events);
      options.onFlushed(events);
    },
    onVoided: ({ apiKey, servedAt, characters }) =>
      reservations.refund(apiKey, monthOf(servedAt), characters),
    onExpired: (serving, at) => options.onExpired({ journal, serving, at }),
    onTakenOver: (lost) => {
      endSession();
      options.onLost(lost);
    },
    onError: (error) => onError("servings could not be recorded", error),
  });
  const reservations = new Reservations({
    ...shared,
    handler,
    fromExclusive,
    waitForAppends: writer.appended,
    takeOver: async (other) => void (await closeJournal(other, "unresponsive")),
    spentBy: (...request) => spentBy({ store, known: knownEntries }, ...request).catch(throwUnavailable),
    onTakenOver: () => endSession(),
  });
  const postings = new Postings({ ...shared, onError, fromExclusive, notePosted: writer.notePosted });
  knownEntries.addOwn(journal, postings);
  const stop = (): void => {
    stopping.abort(new OutcomeUnknown("The service is shutting down.", 2));
    reservations.stop();
    postings.stop();
  };
  const session: Session = { writer, reservations, postings, stop };
  const endSession = (): void => {
    reservations.takenOver();
    options.onUnusable(session);
  };
  return session;
};
