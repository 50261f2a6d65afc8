import type { z } from "zod";
import type { Time } from "../../async/time.ts";
import { inTimeSlices } from "../../async/time-slices.ts";
import { Unavailable } from "../../domain/errors.ts";
import { period } from "../../domain/ledger/period.ts";
import type { EpochMs } from "../../domain/time.ts";
import { parse } from "../../domain/validation.ts";
import type { EventBatch, EventStore, RecordedEvent } from "../../eventstore/event-store.ts";
import { toUnavailable } from "../../eventstore/store-error.ts";
import type { ChargesSource } from "../accounts/read-charges.ts";
import { createMissingJournals } from "../journal/missing-journals.ts";
import { type AuditPlace, firstPosition, isBefore } from "./audit.ts";
import { type AuditEntry, auditEntries } from "./audit-entries.ts";
import { type EventFilter, entryFilter, includesJournals } from "./event-filter.ts";
import { readKeyBatches } from "./key-events.ts";
import { positionBefore, readPeriodEnd } from "./log-period.ts";

export interface EventsRequest extends EventFilter {
  /** Starts after this place. Default: at `from`, or at the log's beginning. */
  readonly after?: AuditPlace | undefined;
  readonly limit: number;
  /** The longest wait for an entry at the end of the log. */
  readonly waitMs?: number;
  readonly signal: AbortSignal;
}

export interface EventsPage {
  readonly entries: readonly AuditEntry[];
  /**
   * The place after which the next page starts: `<position>` or `<position>.<index>`. Absent for an
   * empty log.
   */
  readonly next?: string;
  /** The position up to which the log was read. */
  readonly asOfPosition: number;
  /** True if the end of the log was reached. Otherwise there may be more entries after `next`. */
  readonly caughtUp: boolean;
}

/** Reads entries of the log page by page. A page takes a bounded amount of work. */
export interface EventLog {
  /**
   * Reads at most about `maxScanned` events, so a page of rare entries may be empty before the end
   * of the log. For a key, it reads the events of `readKeyEvents`; if the request waits, it reads
   * the log.
   * @throws {Invalid} for a bad time
   * @throws {NotFound} for a key that was never issued, unless the request waits
   * @throws {Archived} if servings of the page were deleted after they were archived
   * @throws {Unavailable} if too many requests are waiting, or the event store cannot be read
   */
  page(request: EventsRequest): Promise<EventsPage>;
  /** Ends all waiting, at shutdown. */
  drain(): Promise<void>;
}

const maxScanned = 20_000;
/** Each waiting request holds a subscription and a connection. */
const maxWaiting = 50;

export const createEventLog = ({
  clock = Date.now,
  time,
  ...source
}: ChargesSource & {
  readonly clock?: () => EpochMs;
  readonly time: Time;
}): EventLog => {
  const { store } = source;
  const missing = createMissingJournals(store);
  const stopped = new AbortController();
  let waiting = 0;
  return {
    page: async ({ waitMs = 0, signal, ...request }) => {
      const times = parse(period, { from: request.from, to: request.to });
      const waits = waitMs > 0;
      if (waits && waiting >= maxWaiting) throw tooManyWaiting();
      waiting += Number(waits);
      const ended = new AbortController();
      const cancel = time.after(waitMs, () => ended.abort());
      try {
        const after = request.after ?? (await startOf(store, times.from));
        const isIncluded = entryFilter(request, times);
        const stop = AbortSignal.any([signal, ended.signal, stopped.signal]);
        const read = { ...request, after, times, now: clock(), signal: waits ? stop : signal };
        const readsLog = waits || request.apiKey === undefined;
        const events = readsLog ? await sourceOfLog(store, read) : sourceOfKey(source, read);
        const started = after?.index === undefined ? undefined : await store.eventAt(after.position);
        const page = await readPage({ ...request, ...events, after, started, isIncluded, waits, signal });
        if (readsLog && includesJournals(request))
          await missing.requireNone({
            stream: request.stream,
            fromPosition: firstPosition(after),
            toPosition: Math.max(page.asOfPosition, page.entries.at(-1)?.position ?? 0),
            fromInclusive: times.from,
            toExclusive: times.to,
          });
        return page;
      } catch (error) {
        throw toUnavailable(error);
      } finally {
        cancel();
        waiting -= Number(waits);
      }
    },
    drain: async () => stopped.abort(),
  };
};

const tooManyWaiting = (): Unavailable =>
  new Unavailable(`${maxWaiting} requests are waiting for events already. Try again later.`, 20);

const startOf = async (
  store: EventStore,
  fromInclusive: number | undefined,
): Promise<AuditPlace | undefined> => {
  const position = fromInclusive === undefined ? undefined : await positionBefore(store, fromInclusive);
  return position === undefined ? undefined : { position };
};

interface Read extends Pick<EventFilter, "apiKey" | "stream" | "type"> {
  readonly after: AuditPlace | undefined;
  readonly times: z.output<typeof period>;
  readonly now: number;
  readonly signal: AbortSignal;
}

/** Events after a place of the log. */
interface Source {
  readonly read: () => AsyncIterable<EventBatch>;
  /** True if no event that is stored after the batch can be of the period. */
  readonly isOver: (batch: EventBatch) => boolean;
}

const sourceOfLog = async (
  store: EventStore,
  { after, stream, times: { to }, signal }: Read,
): Promise<Source> => {
  const isPast = to === undefined ? () => false : await readPeriodEnd(store, to);
  return {
    read: () =>
      store.subscribe({
        ...(after && { fromExclusive: after.position }),
        ...(stream && { prefixes: [stream] }),
        signal,
      }),
    isOver: ({ events }) => isPast(events.at(-1)),
  };
};

const sourceOfKey = (
  source: ChargesSource,
  { apiKey = "", stream, type, after, times, now, signal }: Read,
): Source => ({
  read: () =>
    readKeyBatches(source, now, {
      apiKey,
      fromPosition: after ? after.position + 1 : 0,
      fromInclusive: times.from,
      toExclusive: times.to,
      hasJournals: includesJournals({ stream, type }),
      signal,
    }),
  isOver: () => false,
});

interface Scan extends Source {
  readonly apiKey?: string | undefined;
  readonly after: AuditPlace | undefined;
  /** The event of the place, if it may have further entries. */
  readonly started: RecordedEvent | undefined;
  readonly limit: number;
  readonly waits: boolean;
  readonly isIncluded: (entry: AuditEntry) => boolean;
  readonly signal: AbortSignal;
}

/**
 * Ends at the limit, after `maxScanned` events, or at the end of the log. A request that waits
 * there gets its page with the next entry, or when its wait is over.
 */
const readPage = async ({
  apiKey,
  after,
  started,
  limit,
  waits,
  isIncluded,
  read,
  isOver,
  signal,
}: Scan): Promise<EventsPage> => {
  const entries: AuditEntry[] = [];
  let [asOfPosition, scanned, caughtUp] = [after?.position ?? 0, 0, false];
  let next = after;

  /** False when the page is full. */
  const add = (event: RecordedEvent): boolean => {
    for (const entry of auditEntries(event, apiKey)) {
      if (isBefore(entry, after) || !isIncluded(entry)) continue;
      if (entries.length === limit) return false;
      entries.push(entry);
      next = { position: entry.position, index: entry.index };
    }
    next = { position: event.position };
    return true;
  };
  const page = (): EventsPage => ({
    entries,
    ...(next && { next: placeText(next) }),
    asOfPosition,
    caughtUp,
  });

  if (started && !add(started)) return page();
  for await (const batch of read()) {
    for await (const event of inTimeSlices(batch.events, signal)) {
      if (!add(event)) return page();
      asOfPosition = event.position;
      scanned += 1;
    }
    asOfPosition = Math.max(asOfPosition, batch.position);
    next = { position: asOfPosition };
    caughtUp = batch.caughtUp || isOver(batch);
    if (caughtUp && (!waits || entries.length > 0)) return page();
    if (scanned >= maxScanned) return page();
  }
  signal.throwIfAborted();
  return page();
};

const placeText = ({ position, index }: AuditPlace): string =>
  index === undefined ? String(position) : `${position}.${index}`;
