import { randomUUID } from "node:crypto";
import { systemTime, type Time } from "../../../src/async/time.ts";
import { addEntries, postedTotals, UsageSum } from "../../../src/domain/ledger/accounts/usage-sum.ts";
import { type JournalEvent, journalStream } from "../../../src/domain/ledger/journal/journal.ts";
import { createCommandHandler } from "../../../src/eventstore/command-handler.ts";
import type { EventStore } from "../../../src/eventstore/event-store.ts";
import { Postings } from "../../../src/ledger/accounts/postings.ts";
import { createJournalRegistry } from "../../../src/ledger/journal/journal-registry.ts";
import { createRecoverJournal, type RecoverJournal } from "../../../src/ledger/session/recover-journals.ts";
import { createJournalAppender, type JournalAppender } from "../../support/append-to-journal.ts";
import { createManualTime, type ManualTime, until } from "../../support/manual-time.ts";

/** A journal and its postings, as of a process. */
export interface PostedJournal {
  readonly log: JournalAppender;
  readonly postings: Postings;
  /** Appends, and hands the event to the postings. */
  record(event: JournalEvent): Promise<void>;
  /** Lets time pass, and waits for the check of the postings that is due. */
  advance(ms: number): Promise<void>;
  readonly errors: readonly string[];
}

/**
 * Delays and deadlines of appends are real, so that conflicts are retried: only the checks wait for
 * the manual clock.
 */
const mixedTime = (manual: ManualTime): Time & { readonly checks: number } => {
  let checks = 0;
  return {
    get checks() {
      return checks;
    },
    now: manual.now,
    after: (ms, run) => {
      if (ms <= 5_000) return systemTime.after(ms, run);
      checks += 1;
      return manual.after(ms, run);
    },
  };
};

export const openPostedJournal = async (
  store: EventStore,
  options: { maxServings?: number; maxAgeMs?: number; clock?: () => number } = {},
): Promise<PostedJournal> => {
  const { clock = () => Date.parse("2026-11-30T12:00:00.000Z"), ...limits } = options;
  const journal = randomUUID();
  const log = createJournalAppender(store, journal);
  const since = await createJournalRegistry(createCommandHandler({ store }), clock).open(journal);
  const manual = createManualTime();
  const time = mixedTime(manual);
  const errors: string[] = [];
  let work: Promise<unknown> = Promise.resolve();
  const postings = new Postings({
    store,
    journal,
    fromExclusive: since,
    clock,
    time,
    notePosted: (through) => {
      const at = new Date(clock()).toISOString();
      const data = { through, at, previous: null };
      work = work.then(async () => postings.add([await log.append({ type: "JournalPosted", data })]));
    },
    onError: (what, error) => errors.push(`${what}: ${error}`),
    ...limits,
  });
  return {
    log,
    postings,
    errors,
    record: async (event) => {
      const recorded = await log.append(event);
      postings.add([recorded]);
    },
    advance: async (ms) => {
      const { checks } = time;
      manual.advance(ms);
      await until(() => time.checks > checks);
      await work;
    },
  };
};

/** Recovers journals that are in the store. */
export const createRecovery = (
  store: EventStore,
  at: string,
  onError = (what: string, cause: unknown): void => {
    throw new Error(what, { cause });
  },
): RecoverJournal => {
  const clock = () => Date.parse(at);
  return createRecoverJournal({
    store,
    handler: createCommandHandler({ store }),
    clock,
    time: systemTime,
    onError,
    registry: createJournalRegistry(createCommandHandler({ store }), clock),
    recoverIdempotencyKeys: async () => {},
    closeJournal: async (journal) => {
      for await (const { type, revision } of store.readStream(journalStream(journal))) {
        if (type === "JournalClosed") return revision;
      }
      throw new Error(`journal ${journal} is not closed`);
    },
  });
};

/** The entries of a key and month, summed up one by one. */
export const plainSum = (events: readonly JournalEvent[], apiKey: string, month: string) => {
  const sum = new UsageSum();
  for (const event of events) {
    addEntries(event, (key, of) => (key === apiKey && of === month ? sum : undefined));
  }
  const { until: _, ...totals } = postedTotals(sum);
  return totals;
};
