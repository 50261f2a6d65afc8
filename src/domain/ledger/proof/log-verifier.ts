import { isOfType } from "../../event-shapes.ts";
import { formatRefusal, logStream } from "../../log-format.ts";
import { journalPrefix } from "../journal/journal.ts";
import type { JournalRegistryEvent } from "../journal/journal-registry.ts";
import type { ProvenEvent } from "../seals/proven-event.ts";
import { createArchiveCheck, type PlannedArchive } from "./archive-check.ts";
import { createOrderCheck, isWellFormedProof, requireForm, runChecks } from "./event-check.ts";
import { createForeignEvents } from "./foreign-events.ts";
import { createJournalChains } from "./journal-chains.ts";
import { PostingsCheck } from "./postings-check.ts";
import { QuotaCheck } from "./quota-check.ts";
import type { MissingSeal } from "./restore-check.ts";
import { createSealCheck, type SealCheckOptions } from "./seal-check.ts";
import type { SealPeriod } from "./seal-keys.ts";
import { createTimeCheck, type Remarks } from "./time-check.ts";

export interface LogSummary {
  readonly events: number;
  readonly seals: number;
  /** The position and the time of the last seal, and its signed checkpoint. */
  readonly sealed: { readonly position: number; readonly at: string; readonly note: string };
  /**
   * The number of events after the last seal's position. They are consistent, but no seal covers
   * them: some may be forged, and later ones may have been removed.
   */
  readonly unsealed: number;
  /**
   * The number of events in journals that only seals of earlier releases cover. These seals prove
   * type and data, and nothing else.
   */
  readonly partlyCovered: number;
  /** Which keys have signed the seals, in order. */
  readonly keys: readonly SealPeriod[];
  readonly remarks: Remarks;
  /**
   * Present if the log lacks the kept seal, because it was restored from a backup. Then it is not
   * the log that the kept seal proves.
   */
  readonly missing?: MissingSeal;
}

interface LogVerifierOptions extends Omit<SealCheckOptions, "chains"> {
  /** All archives that the log names, in order. Default: none. */
  readonly archives?: readonly PlannedArchive[];
}

/**
 * Verifies a log event by event, in order of position. Ignores the events of missing journals: some
 * of them may be missing.
 */
export const createLogVerifier = ({ archives = [], ...options }: LogVerifierOptions) => {
  const { missingJournals } = options;
  const checkOrder = createOrderCheck();
  const chains = createJournalChains();
  const foreign = createForeignEvents(chains.isRegistered);
  const seals = createSealCheck({ ...options, chains });
  const postings = new PostingsCheck(undefined, missingJournals);
  const quotas = new QuotaCheck(undefined, missingJournals);
  const archived = createArchiveCheck({
    archives,
    chains,
    missingJournals,
    acceptedKeys: seals.acceptedKeys,
  });
  const times = createTimeCheck();
  let events = 0;

  return {
    /** True for an event of another program, which needs no form. */
    isForeign: (event: ProvenEvent): boolean => foreign.recognise(event) !== undefined,
    /** Counts an event of another program. */
    findForeign: (event: ProvenEvent): boolean => {
      const kind = foreign.recognise(event);
      if (kind !== undefined) foreign.count(kind, event);
      return kind !== undefined;
    },
    /** Adds an event of another program to a stream that seals cover. */
    addForeign: (event: ProvenEvent): void => {
      // Retention may have removed earlier events of another program's journal.
      if (event.stream.startsWith(journalPrefix)) return;
      runChecks(event, () => {
        checkOrder(event);
        seals.beforeEvent(event);
        seals.addForeign(event);
      });
      events += 1;
    },
    /**
     * @throws {NotGenuine}
     * @throws {UnsupportedLogFormat}
     */
    add: (event: ProvenEvent): void => {
      if (missingJournals && isOfJournal(event, missingJournals)) return;
      requireForm(event, isWellFormedProof);
      if (isOfType<JournalRegistryEvent, ProvenEvent>(event, ["JournalOpened"]))
        foreign.requireNew(event.data.journal, event);
      const refusal = event.stream === logStream ? formatRefusal(event) : undefined;
      if (refusal) throw refusal;
      runChecks(event, () => {
        checkOrder(event);
        seals.beforeEvent(event);
        chains.add(event);
        postings.add(event);
        quotas.add(event);
        seals.add(event);
        archived.add(event);
      });
      times.add(event);
      events += 1;
    },
    /** The keys that may have signed the end of an export. Complete after the last event. */
    acceptedKeys: seals.acceptedKeys,
    /**
     * Call it after the last event.
     * @throws {NotGenuine}
     */
    end: (): LogSummary => {
      const { last, remarks, ...counts } = seals.end();
      const { position, at, note } = last;
      const all = [...remarks, ...archived.end(), ...times.remarks(), ...foreign.remarks()];
      return { events, sealed: { position, at, note }, ...counts, remarks: all };
    },
  };
};

const isOfJournal = ({ stream }: ProvenEvent, journals: ReadonlySet<string>): boolean =>
  stream.startsWith(journalPrefix) && journals.has(stream.slice(journalPrefix.length));
