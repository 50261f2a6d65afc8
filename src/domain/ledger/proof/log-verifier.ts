import { formatRefusal, logStream } from "../../log-format.ts";
import { journalPrefix } from "../journal/journal.ts";
import type { ProvenEvent } from "../seals/proven-event.ts";
import { createArchiveCheck, type PlannedArchive } from "./archive-check.ts";
import { createOrderCheck, isWellFormedProof, requireForm, runChecks } from "./event-check.ts";
import { createJournalChains } from "./journal-chains.ts";
import { PostingsCheck } from "./postings-check.ts";
import { QuotaCheck } from "./quota-check.ts";
import { createSealCheck, type SealCheckOptions } from "./seal-check.ts";
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
  readonly remarks: Remarks;
}

interface LogVerifierOptions extends Omit<SealCheckOptions, "chains"> {
  /** All archives that the log names, in order. Default: none. */
  readonly archives?: readonly PlannedArchive[];
}

/**
 * Verifies a log event by event, in order of position. Ignores the events of absent journals: some
 * of them may be missing.
 */
export const createLogVerifier = ({ archives = [], ...options }: LogVerifierOptions) => {
  const { keys, absent } = options;
  const checkOrder = createOrderCheck();
  const chains = createJournalChains();
  const seals = createSealCheck({ ...options, chains });
  const postings = new PostingsCheck(undefined, absent);
  const quotas = new QuotaCheck(undefined, absent);
  const archived = createArchiveCheck({ keys, archives, chains });
  const times = createTimeCheck();
  let events = 0;

  return {
    /**
     * @throws {NotGenuine}
     * @throws {UnsupportedLogFormat}
     */
    add: (event: ProvenEvent): void => {
      if (absent && isOfJournal(event, absent)) return;
      requireForm(event, isWellFormedProof);
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
    /**
     * Call it after the last event.
     * @throws {NotGenuine}
     */
    end: (): LogSummary => {
      const { last, ...counts } = seals.end();
      const { position, at, note } = last;
      return { events, sealed: { position, at, note }, ...counts, remarks: times.remarks() };
    },
  };
};

const isOfJournal = ({ stream }: ProvenEvent, journals: ReadonlySet<string>): boolean =>
  stream.startsWith(journalPrefix) && journals.has(stream.slice(journalPrefix.length));
