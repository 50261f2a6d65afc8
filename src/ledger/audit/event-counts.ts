import { z } from "zod";
import { inTimeSlices } from "../../async/time-slices.ts";
import { Invalid } from "../../domain/errors.ts";
import { instant } from "../../domain/ledger/period.ts";
import type { EpochMs } from "../../domain/time.ts";
import { parse } from "../../domain/validation.ts";
import { readBatches } from "../../eventstore/follow-events.ts";
import { throwUnavailable } from "../../eventstore/store-error.ts";
import type { ChargesSource } from "../accounts/read-charges.ts";
import { createMissingJournals, type MissingJournals } from "../journal/missing-journals.ts";
import type { ReportQueue } from "../reports/report-queue.ts";
import { auditEntries } from "./audit-entries.ts";
import { type EventFilter, entryFilter, includesJournals } from "./event-filter.ts";
import { readKeyBatches } from "./key-events.ts";
import { positionBefore, readPeriodEnd } from "./log-period.ts";

interface CountRequest extends EventFilter {
  readonly from: string;
  readonly to: string;
  readonly signal: AbortSignal;
}

/** The entries of one minute. */
interface MinuteCount {
  /** The beginning of the minute, ISO 8601 UTC. */
  readonly minute: string;
  readonly entries: number;
  readonly byType: Readonly<Record<string, number>>;
  /** The positions of its first and its last event. */
  readonly first: number;
  readonly last: number;
}

export interface EventCounts {
  /** Minutes without entries are left out. */
  readonly minutes: readonly MinuteCount[];
  readonly entries: number;
  /** The position up to which the log was read. */
  readonly asOfPosition: number;
}

/**
 * Counts the entries of each minute, for at most a day. Reads the log from the last seal before
 * `from`, or, for one key, only the events of `readKeyEvents`.
 * @throws {Invalid}
 * @throws {NotFound} for a key that was never issued
 * @throws {Archived} if servings were deleted after they were archived
 * @throws {Unavailable} if too many counts are waiting, this one takes too long, or the event store
 * cannot be read
 */
export type CountEvents = (request: CountRequest) => Promise<EventCounts>;

const dayMs = 24 * 60 * 60_000;
const period = z.object({ from: instant, to: instant });

export const createCountEvents = ({
  queue,
  clock = Date.now,
  ...source
}: ChargesSource & {
  readonly clock?: () => EpochMs;
  /** Counts wait here for their turn: each may read a whole day of the log. */
  readonly queue: ReportQueue;
}): CountEvents => {
  const missing = createMissingJournals(source.store);
  return async ({ signal, ...request }) => {
    const times = parse(period, { from: request.from, to: request.to });
    if (times.to <= times.from || times.to - times.from > dayMs) {
      throw new Invalid([{ path: ["to"], message: "Must be after `from`, by at most 24 hours." }]);
    }
    return await queue
      .run("event counts", signal, (limited) =>
        count({ ...request, source, missing, times, now: clock(), signal: limited }),
      )
      .catch(throwUnavailable);
  };
};

interface Count extends Pick<EventFilter, "apiKey" | "stream" | "type" | "request"> {
  readonly source: ChargesSource;
  readonly missing: MissingJournals;
  readonly times: z.output<typeof period>;
  readonly now: number;
  readonly signal: AbortSignal;
}

const count = async ({ source, missing, times, now, signal, ...filter }: Count): Promise<EventCounts> => {
  const { store } = source;
  const { apiKey, stream } = filter;
  const isIncluded = entryFilter(filter, times);
  const counted = new Map<
    string,
    MinuteCount & { entries: number; last: number; byType: Record<string, number> }
  >();
  const fromExclusive = await positionBefore(store, times.from);
  const isPast = await readPeriodEnd(store, times.to);
  let [entries, asOfPosition] = [0, fromExclusive ?? 0];
  const options = {
    ...(fromExclusive !== undefined && { fromExclusive }),
    ...(stream && { prefixes: [stream] }),
    signal,
  };
  const hasJournals = includesJournals(filter);
  const fromPosition = fromExclusive === undefined ? 0 : fromExclusive + 1;
  const selection = { fromPosition, fromInclusive: times.from, toExclusive: times.to };
  const batches =
    apiKey === undefined
      ? readBatches(store, options)
      : readKeyBatches(source, now, { apiKey, ...selection, hasJournals, signal });
  for await (const batch of batches) {
    for await (const event of inTimeSlices(batch.events, signal)) {
      asOfPosition = event.position;
      for (const entry of auditEntries(event, apiKey).filter(isIncluded)) {
        const minute = `${entry.at.slice(0, 16)}:00.000Z`;
        const known = counted.get(minute) ?? {
          minute,
          entries: 0,
          byType: {},
          first: event.position,
          last: 0,
        };
        known.entries += 1;
        known.last = event.position;
        known.byType[entry.type] = (known.byType[entry.type] ?? 0) + 1;
        counted.set(minute, known);
        entries += 1;
      }
    }
    if (batch.caughtUp) asOfPosition = Math.max(asOfPosition, batch.position);
    if (apiKey === undefined && isPast(batch.events.at(-1))) break;
  }
  signal.throwIfAborted();
  if (apiKey === undefined && hasJournals) await missing.requireNone({ stream, ...selection });
  const minutes = [...counted.values()].sort((a, b) => (a.minute < b.minute ? -1 : 1));
  return { minutes, entries, asOfPosition };
};
