import { eventTypes, isOfType, isWellFormed } from "../../domain/event-shapes.ts";
import { journalStream } from "../../domain/ledger/journal/journal.ts";
import {
  type JournalRegistryEvent,
  journalRegistryStream,
} from "../../domain/ledger/journal/journal-registry.ts";
import { sealsStream } from "../../domain/ledger/seals/seal.ts";
import type { EpochMs } from "../../domain/time.ts";
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
export const readLastTime = async (store: EventStore): Promise<EpochMs> =>
  await latestOf(store, await lastEventsOf(store, [journalRegistryStream, sealsStream]));

/**
 * Reads the latest time at which a service recorded something in journals or their registry.
 * Commands record seals and archives by a clock that nothing was compared with.
 * @throws {EventStoreUnavailable}
 */
export const readLastTimeOfServices = async (store: EventStore): Promise<EpochMs> => {
  const events = await lastEventsOf(store, []);
  for await (const event of store.readStream(journalRegistryStream)) {
    if (isOfType<JournalRegistryEvent, RecordedEvent>(event, ["JournalOpened", "JournalRetired"]))
      events.push(event);
  }
  return await latestOf(store, events);
};

/** The last events of these streams and of the open journals. */
const lastEventsOf = async (store: EventStore, streams: readonly string[]): Promise<RecordedEvent[]> => {
  const journals = (await readJournalRegistry(store))?.state.map(journalStream) ?? [];
  const ends = await Promise.all([...streams, ...journals].map((stream) => readLastEvent(store, stream)));
  return ends.filter((end) => end !== undefined);
};

const latestOf = async (store: EventStore, events: readonly RecordedEvent[]): Promise<EpochMs> => {
  const corrections = await readCorrections(store);
  const isCorrected = (time: EpochMs): boolean =>
    corrections.some(({ at, until }) => time > at && time <= until);
  const times = [...events.map(timeOf), ...corrections.map(({ at }) => at)];
  return times.reduce((latest, time) => (isCorrected(time) ? latest : Math.max(latest, time || 0)), 0);
};

/** An event of another program may state any time: the one at which it was stored counts. */
const timeOf = (event: RecordedEvent): EpochMs =>
  eventTypes.includes(event.type) && isWellFormed(event) ? Date.parse(eventTime(event)) : event.created;
