import { z } from "zod";
import type { Clock } from "../../async/clock.ts";
import { Unavailable } from "../../domain/errors.ts";
import { parse } from "../../domain/validation.ts";
import type { EventStore, RecordedEvent } from "../../eventstore/event-store.ts";
import { toUnavailable } from "../store-error.ts";
import type { AuditPlace } from "./audit.ts";
import { type AuditEntry, auditEntries } from "./audit-entries.ts";
import { type EventFilter, entryFilter } from "./event-filter.ts";
import { instant } from "./event-time.ts";
import { positionBefore, timeToleranceMs } from "./seal-times.ts";

export interface EventsRequest extends EventFilter {
  /** Starts after this place. Default: at `from`, or at the log's beginning. */
  readonly after?: AuditPlace | undefined;
  readonly limit: number;
  /** How long to wait for an entry at the end of the log. */
  readonly waitMs?: number;
  readonly signal: AbortSignal;
}

export interface EventsPage {
  readonly entries: readonly AuditEntry[];
  /** The place at which the next page starts: `<position>` or `<position>.<index>`. Absent for an empty log. */
  readonly next?: string;
  /** The position up to which the log was read. */
  readonly asOfPosition: number;
  /** False: there may be more entries, so continue at `next`. True: the end of the log was reached. */
  readonly caughtUp: boolean;
}

/** Entries of the log in pages of bounded work. */
export interface EventLog {
  /**
   * Reads at most `maxScanned` events, so a page of rare entries may be empty before the end of the log.
   * @throws {Invalid} for a bad time @throws {Unavailable} if too many requests are waiting, or the event store cannot be read
   */
  page(request: EventsRequest): Promise<EventsPage>;
  /** Ends all waiting, at shutdown. */
  drain(): Promise<void>;
}

const maxScanned = 20_000;
/** Each holds a subscription and a connection. */
const maxWaiting = 50;

const period = z.object({ from: instant.optional(), to: instant.optional() });

export const createEventLog = ({
  store,
  timers,
}: {
  /** Events as stored. */
  readonly store: EventStore;
  readonly timers: Clock;
}): EventLog => {
  const stopped = new AbortController();
  let waiting = 0;
  return {
    page: async ({ waitMs = 0, signal, ...request }) => {
      const times = parse(period, { from: request.from, to: request.to });
      const waits = waitMs > 0;
      if (waits && waiting >= maxWaiting) throw tooManyWaiting();
      waiting += Number(waits);
      const ended = new AbortController();
      const cancel = timers.after(waitMs, () => ended.abort());
      try {
        const after = request.after ?? (await startOf(store, times.from));
        const isIncluded = entryFilter(request, times);
        const end = times.to === undefined ? Number.POSITIVE_INFINITY : times.to + timeToleranceMs;
        const scan = { ...request, after, isIncluded, end, waits };
        return await readPage(store, scan, signal, AbortSignal.any([ended.signal, stopped.signal]));
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

const startOf = async (store: EventStore, from: number | undefined): Promise<AuditPlace | undefined> => {
  const position = from === undefined ? undefined : await positionBefore(store, from);
  return position === undefined ? undefined : { position };
};

interface Scan {
  readonly after: AuditPlace | undefined;
  readonly stream?: string | undefined;
  readonly limit: number;
  /** No event that was stored later is included. */
  readonly end: number;
  readonly waits: boolean;
  readonly isIncluded: (entry: AuditEntry) => boolean;
}

/** Ends at the limit, after `maxScanned` events, or at the end of the log: then, if it waits, with the next entry or at `ended`. */
const readPage = async (
  store: EventStore,
  { after, stream, limit, end, waits, isIncluded }: Scan,
  signal: AbortSignal,
  ended: AbortSignal,
): Promise<EventsPage> => {
  const entries: AuditEntry[] = [];
  let [asOfPosition, scanned, caughtUp] = [after?.position ?? 0, 0, false];
  let next = after;

  /** False when the page is full. */
  const add = (event: RecordedEvent): boolean => {
    if (event.stream.startsWith("rate-")) return true;
    for (const entry of auditEntries(event)) {
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

  const started = after?.index === undefined ? undefined : await store.eventAt(after.position);
  if (started && !add(started)) return page();
  const prefixes = stream ? { prefixes: [stream] } : {};
  const either = AbortSignal.any([signal, ended]);
  const batches = store.subscribe({
    ...(after && { after: after.position }),
    ...prefixes,
    signal: waits ? either : signal,
  });
  for await (const batch of batches) {
    for (const event of batch.events) {
      if (!add(event)) return page();
      asOfPosition = event.position;
      scanned += 1;
    }
    asOfPosition = Math.max(asOfPosition, batch.position);
    next = { position: asOfPosition };
    caughtUp = batch.caughtUp || (batch.events.at(-1)?.created ?? 0) > end;
    if (caughtUp && (!waits || entries.length > 0)) return page();
    if (scanned >= maxScanned) return page();
  }
  signal.throwIfAborted();
  return page();
};

const isBefore = ({ position, index }: AuditEntry, after: AuditPlace | undefined): boolean =>
  position === after?.position && index <= (after.index ?? index);

const placeText = ({ position, index }: AuditPlace): string =>
  index === undefined ? String(position) : `${position}.${index}`;
