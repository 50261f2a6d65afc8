import pLimit from "p-limit";
import { keyStream } from "../../domain/accounts/key.ts";
import { NotFound } from "../../domain/errors.ts";
import { openEnd, type Range } from "../../domain/ledger/accounts/revision-ranges.ts";
import { usageAccountStream } from "../../domain/ledger/accounts/usage-account.ts";
import { journalStream } from "../../domain/ledger/journal/journal.ts";
import { addMonths, monthOf, monthsBetween } from "../../domain/ledger/month.ts";
import {
  type EventBatch,
  type EventStore,
  eventTime,
  type RecordedEvent,
  readEvent,
  readLastEvent,
} from "../../eventstore/event-store.ts";
import type { JournalPart } from "../accounts/journal-part.ts";
import { beginCharges, type ChargesSource, type SummedUp, type Use } from "../accounts/read-charges.ts";
import { readRanges, requirePlanned } from "../accounts/read-ranges.ts";
import { readCorrections } from "../journal/clock-corrections.ts";
import { cursorOf, type EventCursor, mergeByPosition } from "./event-cursor.ts";

interface KeyEventsRequest {
  readonly apiKey: string;
  /** Selects only events at this position or later. */
  readonly fromPosition: number;
  /** Selects only events of journals at `fromInclusive` or later, and before `toExclusive`. */
  readonly fromInclusive?: number | undefined;
  readonly toExclusive?: number | undefined;
  /** False leaves out the events of journals. */
  readonly hasJournals: boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Yields the events of one key, in order of position, up to the current end of the log: those of
 * its own stream and of its accounts, and those events of journals that the accounts name or that
 * are not posted yet. Events of journals also hold entries of other keys. At most one page per
 * stream that is being read is in memory.
 * @throws {NotFound} for a key that was never issued
 * @throws {Archived} before the first event, if needed events of journals were deleted
 * @throws {EventStoreUnavailable}
 */
export async function* readKeyEvents(
  source: ChargesSource,
  now: number,
  request: KeyEventsRequest,
): AsyncGenerator<RecordedEvent, void, undefined> {
  yield* (await openKeyEvents(source, now, request)).events;
}

/**
 * Yields the events of `readKeyEvents` in batches, as a subscription delivers them. The last batch
 * has `caughtUp`.
 * @throws as `readKeyEvents` does
 */
export async function* readKeyBatches(
  source: ChargesSource,
  now: number,
  request: KeyEventsRequest,
): AsyncGenerator<EventBatch, void, undefined> {
  const { events, upTo } = await openKeyEvents(source, now, request);
  let batch: RecordedEvent[] = [];
  for await (const event of events) {
    batch.push(event);
    if (batch.length < eventsPerBatch) continue;
    yield { events: batch, position: event.position, caughtUp: false };
    batch = [];
  }
  yield { events: batch, position: upTo, caughtUp: true };
}

const eventsPerBatch = 100;

interface KeyEvents {
  readonly events: AsyncIterable<RecordedEvent>;
  /** The position of the last event that is read. */
  readonly upTo: number;
}

const openKeyEvents = async (
  source: ChargesSource,
  now: number,
  { apiKey, fromPosition, fromInclusive, toExclusive, hasJournals, signal }: KeyEventsRequest,
): Promise<KeyEvents> => {
  const { store } = source;
  const accounts = (await monthsOf(store, apiKey, now)).map((month) => ({ apiKey, month }));
  const streams = [keyStream(apiKey), ...accounts.map(({ month }) => usageAccountStream(apiKey, month))];
  const ends = await Promise.all(streams.map((stream) => readLastEvent(store, stream)));
  const reading = await beginCharges(source, accounts);
  // All events up to this position are readable now. Including later appends could leave a gap.
  const upTo = Math.max(reading.end, ...ends.map((end) => end?.position ?? 0));
  const firsts = await Promise.all(ends.map((end) => end && firstFrom(store, end, fromPosition)));
  const found = firsts.filter((first) => first !== undefined);
  const useOf = ({ sums, position }: SummedUp): Use => {
    // Earlier postings name only events that are earlier still.
    if (position < fromPosition) return "end";
    return fromInclusive !== undefined && Date.parse(sums.until) < fromInclusive ? "nothing" : "entries";
  };
  const journals = hasJournals ? await reading.plan({ signal, useOf }) : new Map<string, JournalPart>();
  const cursors = [
    ...found.map((first) =>
      cursorOf(first, () =>
        store.readStream(first.stream, { fromInclusive: first.revision + 1, ...(signal && { signal }) }),
      ),
    ),
    ...(await journalCursors(store, journals, { toExclusive, signal })),
  ];
  return { events: between(mergeByPosition(cursors), { fromPosition, upTo, signal }), upTo };
};

const maxConcurrentReads = 8;

/** A cursor for each journal. */
const journalCursors = (
  store: EventStore,
  journals: ReadonlyMap<string, JournalPart>,
  { toExclusive, signal }: Pick<KeyEventsRequest, "toExclusive" | "signal">,
): Promise<EventCursor[]> => {
  const asOf = toExclusive === undefined ? {} : { time: toExclusive - 1 };
  const onGap = requirePlanned(store, journals, asOf);
  return pLimit(maxConcurrentReads).map(journals, async ([journal, part]) => {
    const [range, ...others] = part.ranges();
    const [fromInclusive, toInclusive] = range ?? [openEnd, openEnd];
    const head = range && (await readEvent(store, journalStream(journal), { fromInclusive }));
    if (toInclusive < openEnd && head?.revision !== fromInclusive) await onGap();
    const rest =
      fromInclusive < toInclusive ? [[fromInclusive + 1, toInclusive] as Range, ...others] : others;
    return cursorOf(head, () => readRanges(store, journal, rest, { asOf, signal, onGap }));
  });
};

async function* between(
  events: AsyncIterable<RecordedEvent>,
  { fromPosition, upTo, signal }: Pick<KeyEventsRequest, "fromPosition" | "signal"> & Pick<KeyEvents, "upTo">,
): AsyncGenerator<RecordedEvent, void, undefined> {
  for await (const event of events) {
    signal?.throwIfAborted();
    if (event.position > upTo) return;
    if (event.position >= fromPosition) yield event;
  }
}

/**
 * Lists the months for which the key may have accounts: since it was issued, and one month more at
 * each end, because other instances named accounts by their own clocks, which may differ.
 */
const monthsOf = async (store: EventStore, apiKey: string, now: number): Promise<string[]> => {
  const issued = await readEvent(store, keyStream(apiKey));
  if (!issued) throw new NotFound("There is no such key.");
  const at = Date.parse(eventTime(issued));
  const since = Math.min(Number.isNaN(at) ? issued.created : at, issued.created);
  const latest = Math.max(now, ...(await readCorrections(store)).map(({ until }) => until));
  const monthAt = (time: number): string => monthOf(new Date(time).toISOString());
  const [first, last] = [monthAt(since), monthAt(Math.max(since, latest))];
  return [addMonths(first, -1), ...monthsBetween(first, last), addMonths(last, 1)];
};

/**
 * The first event of the stream at the position or later, found by bisection: positions grow with
 * revisions.
 */
const firstFrom = async (
  store: EventStore,
  end: RecordedEvent,
  position: number,
): Promise<RecordedEvent | undefined> => {
  if (end.position < position) return undefined;
  if (position <= 0) return readEvent(store, end.stream);
  let first = end;
  let low = 0;
  while (low < first.revision) {
    const middle = Math.floor((low + first.revision) / 2);
    const event = await readEvent(store, end.stream, { fromInclusive: middle });
    if (event && event.position >= position) first = event;
    else low = middle + 1;
  }
  return first;
};
