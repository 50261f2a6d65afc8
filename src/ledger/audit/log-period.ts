import { isOfType } from "../../domain/event-shapes.ts";
import { type SealEvent, type Sealed, sealsStream } from "../../domain/ledger/seals/seal.ts";
import {
  type EventStore,
  type RecordedEvent,
  readEvent,
  readLastEvent,
} from "../../eventstore/event-store.ts";
import { readCorrections } from "../journal/clock-corrections.ts";

/** An event's own time may be this much later or earlier than the time at which it was stored. */
const timeToleranceMs = 5 * 60_000;

/**
 * Finds a position that precedes every event that happened at the time or later: the position of
 * the last seal well before that time, found by bisection. Undefined means the log's beginning.
 * Seals are an hour apart.
 * @throws {EventStoreUnavailable}
 */
export const positionBefore = async (store: EventStore, given: number): Promise<number | undefined> => {
  const corrections = await readCorrections(store);
  const time = Math.min(given, ...corrections.filter(({ until }) => until >= given).map(({ at }) => at));
  const last = await readLastEvent(store, sealsStream);
  if (!last) return undefined;
  let [low, high] = [0, last.revision];
  let found: number | undefined;
  while (low <= high) {
    const middle = Math.floor((low + high) / 2);
    const seal = await readEvent(store, sealsStream, { fromInclusive: middle });
    if (seal && timeOf(seal) <= time - timeToleranceMs) {
      found = positionOf(seal) ?? found;
      low = middle + 1;
    } else {
      high = middle - 1;
    }
  }
  return found;
};

/**
 * Returns a function that says whether every event stored after the given one has a time at or
 * after `toExclusive`. Times go back where a wrong clock was corrected.
 * @throws {EventStoreUnavailable}
 */
export const readPeriodEnd = async (
  store: EventStore,
  toExclusive: number,
): Promise<(event: RecordedEvent | undefined) => boolean> => {
  const corrected = (await readCorrections(store)).at(-1)?.position ?? -1;
  return (event) =>
    event !== undefined && event.position > corrected && event.created > toExclusive + timeToleranceMs;
};

/**
 * The seal covers what was readable before this time. The clock of the process that sealed may have
 * been behind the store's. Another program's event in the stream does not end the bisection.
 */
const timeOf = ({ data, created }: RecordedEvent): number =>
  Math.max(created, Date.parse((Object(data) as Partial<Sealed>).at ?? "") || created);

const positionOf = (event: RecordedEvent): number | undefined =>
  isOfType<SealEvent, RecordedEvent>(event, ["Sealed"]) && event.data.position >= 0
    ? event.data.position
    : undefined;
