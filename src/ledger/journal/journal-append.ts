import { exponentialBackoff, type Outcome, retry } from "../../async/retry.ts";
import type { Time } from "../../async/time.ts";
import {
  type AppendResult,
  type EventStore,
  EventStoreUnavailable,
  type NewEvent,
  WrongExpectedRevision,
} from "../../eventstore/event-store.ts";
import { readUntil } from "../../eventstore/read-until.ts";

interface JournalAppendOptions {
  readonly store: EventStore;
  readonly time: Time;
  /** Ends the repetitions. */
  readonly signal: AbortSignal;
  /** Called before each repetition. */
  readonly onUnavailable: (error: EventStoreUnavailable) => void;
}

/** The outcome of an append to this process's journal. */
interface JournalAppended {
  /**
   * The place of the last appended event; undefined if the events are not in the stream and never
   * will be.
   */
  readonly end: AppendResult | undefined;
  /** The last revision, if another process has closed the journal. */
  readonly takenOverRevision?: number;
}

const delayMs = { firstMs: 10, maxMs: 500 };

/**
 * Appends after the revision (-1: none). Repeats the append with the same ids and the same
 * expectation until its outcome is known.
 * @throws permanent errors of the store, if nothing is stored
 * @throws the signal's reason, after which the outcome may be unknown
 */
export const appendToJournal = async (
  stream: string,
  events: readonly NewEvent[],
  revision: number,
  options: JournalAppendOptions,
): Promise<JournalAppended> => {
  const expected = revision < 0 ? "none" : revision;
  const append = () => options.store.append(stream, events, expected);
  for (;;) {
    try {
      return { end: await whileUnavailable(options, append) };
    } catch (error) {
      if (!(error instanceof WrongExpectedRevision)) throw error;
      const appended = await readAfterConflict(stream, events, error.actual, revision, options);
      if (appended) return appended;
    }
  }
};

/**
 * Determines whether an earlier attempt had stored the events before another process closed the
 * journal. Reads may lag behind the conflict, so it reads again until it finds the closing event,
 * or the revision that the conflict named. Resolves with undefined if it finds neither within
 * seconds: in a cluster that event may be lost with its leader, and then the append succeeds.
 */
const readAfterConflict = async (
  stream: string,
  events: readonly NewEvent[],
  actual: number,
  revision: number,
  options: JournalAppendOptions,
): Promise<JournalAppended | undefined> => {
  const { store, time, signal } = options;
  const read = async () => {
    let takenOverRevision = revision;
    let end: AppendResult | undefined;
    for await (const event of store.readStream(stream, { fromInclusive: revision + 1 })) {
      takenOverRevision = event.revision;
      if (event.id === events.at(-1)?.id) end = { revision: takenOverRevision, position: event.position };
      if (event.type === "JournalClosed") return { end, takenOverRevision, isVisible: true };
    }
    return { end, takenOverRevision, isVisible: takenOverRevision >= actual };
  };
  const { isVisible, ...appended } = await readUntil(
    (found) => found.isVisible,
    { time, signal },
    () => whileUnavailable(options, read),
  );
  return isVisible ? appended : undefined;
};

const whileUnavailable = <T>(
  { time, signal, onUnavailable }: JournalAppendOptions,
  task: () => Promise<T>,
): Promise<T> => {
  const delayAfter = (outcome: Outcome<T>, attempt: number): number | undefined => {
    if (!("error" in outcome && outcome.error instanceof EventStoreUnavailable)) return undefined;
    onUnavailable(outcome.error);
    return exponentialBackoff(delayMs, attempt);
  };
  return retry({ delayAfter, time, signal }, task);
};
