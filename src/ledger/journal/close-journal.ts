import { systemTime, type Time } from "../../async/time.ts";
import { type JournalClosed, journalStream } from "../../domain/ledger/journal/journal.ts";
import type { EpochMs } from "../../domain/time.ts";
import {
  type EventStore,
  EventStoreUnavailable,
  WrongExpectedRevision,
} from "../../eventstore/event-store.ts";
import { readUntil } from "../../eventstore/read-until.ts";
import { uuidv7 } from "../../eventstore/uuid.ts";
import { type JournalEnd, readJournalEnd } from "./journal-reader.ts";

/**
 * Closes the journal, so that its process can no longer append. Idempotent: after an error, call it
 * again. Resolves with the revision of `JournalClosed`.
 * @throws {EventStoreUnavailable} after which the journal may be closed, now or later
 */
export const closeJournal = async (
  store: EventStore,
  clock: () => EpochMs,
  journal: string,
  reason: JournalClosed["reason"],
  time: Time = systemTime,
): Promise<number> => {
  let end = await readJournalEnd(store, journal);
  for (;;) {
    if (end?.closedRevision !== undefined) return end.closedRevision;
    try {
      return await appendClosed(store, clock(), journal, reason, end);
    } catch (error) {
      if (!(error instanceof WrongExpectedRevision)) throw error;
      // The journal's process is alive and keeps appending, so this tries again as soon as the
      // event that caused the conflict is readable.
      end = await readFrom(store, journal, error.actual, time);
    }
  }
};

const appendClosed = async (
  store: EventStore,
  now: number,
  journal: string,
  reason: JournalClosed["reason"],
  end: JournalEnd | undefined,
): Promise<number> => {
  const time = new Date(now).toISOString();
  const at = end && end.at > time ? end.at : time;
  const data: JournalClosed = { at, previous: end?.digest ?? null, reason };
  const event = { id: uuidv7(now), type: "JournalClosed", data, metadata: { actor: "system" } };
  return (await store.append(journalStream(journal), [event], end?.revision ?? "none")).revision;
};

/**
 * Reads until the revision is visible: a store may refuse appends because of events that reads do
 * not show yet. In a cluster such an event may be lost with its leader.
 * @throws {EventStoreUnavailable} if it does not become visible
 */
const readFrom = async (
  store: EventStore,
  journal: string,
  revision: number,
  time: Time,
): Promise<JournalEnd | undefined> => {
  const isVisible = (end: JournalEnd | undefined): boolean => (end?.revision ?? -1) >= revision;
  const end = await readUntil(isVisible, { time }, () => readJournalEnd(store, journal));
  if (isVisible(end)) return end;
  throw new EventStoreUnavailable(`revision ${revision} of a journal is not readable yet`);
};
