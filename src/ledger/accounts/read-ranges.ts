import { openEnd, type Range } from "../../domain/ledger/accounts/revision-ranges.ts";
import { journalStream } from "../../domain/ledger/journal/journal.ts";
import type { EpochMs } from "../../domain/time.ts";
import { type EventStore, eventTime, type RecordedEvent } from "../../eventstore/event-store.ts";
import { requireNotArchived } from "../journal/missing-journals.ts";
import type { JournalPart } from "./journal-part.ts";

/** Selects entries up to a time, a log position, or both, inclusive. Default: all. */
export interface AsOf {
  readonly time?: EpochMs | undefined;
  readonly position?: number | undefined;
}

interface RangesRequest {
  readonly asOf?: AsOf | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * Called if events of a range that has an end are missing. A range without an end has unposted
   * entries, and no archive has these.
   */
  readonly onGap?: () => Promise<void>;
}

/**
 * The events of a journal in ranges that do not overlap, in order, as far as `asOf` includes them.
 * @throws the errors of `onGap`
 * @throws {EventStoreUnavailable}
 */
export async function* readRanges(
  store: EventStore,
  journal: string,
  ranges: readonly Range[],
  { asOf = {}, signal, onGap = async () => {} }: RangesRequest = {},
): AsyncGenerator<RecordedEvent, void, undefined> {
  for (const [fromInclusive, toInclusive] of ranges) {
    const hasEnd = toInclusive < openEnd;
    const options = {
      fromInclusive,
      ...(hasEnd && { limit: toInclusive - fromInclusive + 1 }),
      ...(signal && { signal }),
    };
    let next = fromInclusive;
    for await (const event of store.readStream(journalStream(journal), options)) {
      if (hasEnd && event.revision > next) await onGap();
      // Positions and times never go backwards within a journal.
      if (!isWithin(asOf, event.position, eventTime(event))) return;
      yield event;
      next = event.revision + 1;
    }
    if (hasEnd && next <= toInclusive && !signal?.aborted) await onGap();
  }
}

/** An event whose time cannot be parsed is included. */
export const isWithin = ({ time, position }: AsOf, at: number, until: string): boolean =>
  (position === undefined || at <= position) && !(time !== undefined && Date.parse(until) > time);

/**
 * Returns a check for the case that events of these journals are missing. It is done once, for all
 * of them: it throws {Archived} if they were archived.
 */
export const requirePlanned = (
  store: EventStore,
  journals: ReadonlyMap<string, JournalPart>,
  { time, position }: AsOf = {},
): (() => Promise<void>) => {
  let checked: Promise<void> | undefined;
  const check = (): Promise<void> => {
    const needed = [...journals].filter(([, part]) => part.ranges().length > 0);
    const streams = needed.map(([journal]) => journalStream(journal));
    const toExclusive = time === undefined ? undefined : time + 1;
    return requireNotArchived(store, streams, { toPosition: position, toExclusive });
  };
  return () => (checked ??= check());
};
