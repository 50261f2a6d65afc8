import { eventTypes, isWellFormed } from "../../domain/event-shapes.ts";
import { journalStream } from "../../domain/ledger/journal/journal.ts";
import { journalRegistryStream } from "../../domain/ledger/journal/journal-registry.ts";
import { sealsStream } from "../../domain/ledger/seals/seal.ts";
import {
  type EventStore,
  eventTime,
  type RecordedEvent,
  readLastEvent,
} from "../../eventstore/event-store.ts";
import { readCorrections } from "../../ledger/journal/clock-corrections.ts";
import { readJournalRegistry } from "../../ledger/journal/journal-registry.ts";

/**
 * Reads the latest time of the log that a starting process can find, from the last events of the
 * journals and seals. Times of a wrong clock that was corrected do not count.
 * @throws {EventStoreUnavailable}
 */
export const readLastTime = async (store: EventStore): Promise<number> => {
  const journals = (await readJournalRegistry(store))?.state.map(journalStream) ?? [];
  const ends = await Promise.all(
    [journalRegistryStream, sealsStream, ...journals].map((stream) => readLastEvent(store, stream)),
  );
  const corrections = await readCorrections(store);
  const isCorrected = (time: number): boolean =>
    corrections.some(({ at, until }) => time > at && time <= until);
  const times = [...ends.map((end) => end && timeOf(end)), ...corrections.map(({ at }) => at)];
  return Math.max(0, ...times.map((time = 0) => (isCorrected(time) ? 0 : time || 0)));
};

/** An event of another program may state any time: the one at which it was stored counts. */
const timeOf = (event: RecordedEvent): number =>
  eventTypes.includes(event.type) && isWellFormed(event) ? Date.parse(eventTime(event)) : event.created;
