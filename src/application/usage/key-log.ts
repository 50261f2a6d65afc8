import { keyStream } from "../../domain/accounts/key.ts";
import { NotFound } from "../../domain/errors.ts";
import { usageStream } from "../../domain/usage/usage.ts";
import type { EventStore, RecordedEvent } from "../../eventstore/event-store.ts";
import { eventTime } from "./business-time.ts";

export interface KeyEventsRequest {
  readonly apiKey: string;
  /** Only events of greater positions. */
  readonly after?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The events of one key's streams, in order of position, up to the current end of the log. Reads no other stream. At most
 * one page per stream is in memory.
 * @throws {NotFound} for a key that was never issued @throws {EventStoreUnavailable}
 */
export async function* readKeyEvents(
  store: EventStore,
  now: number,
  { apiKey, after, signal }: KeyEventsRequest,
): AsyncGenerator<RecordedEvent, void, undefined> {
  const streams = await streamsOf(store, apiKey, now);
  const ends = await Promise.all(streams.map((stream) => endOfStream(store, stream, "backwards")));
  // All events up to this position are readable now. Including later appends could leave a gap.
  const upTo = Math.max(...ends.map((end) => end?.position ?? -1));
  const firsts = await Promise.all(ends.map((end) => end && firstAfter(store, end, after)));
  const cursors = firsts
    .filter((first) => first !== undefined)
    .map((first) => cursorAt(store, first, signal));
  try {
    for (;;) {
      signal?.throwIfAborted();
      const next = cursors.reduce(earlier, undefined);
      if (next?.head === undefined || next.head.position > upTo) return;
      yield next.head;
      await next.advance();
    }
  } finally {
    await Promise.all(cursors.map(({ close }) => close()));
  }
}

/** Usage streams are named after the clocks of other instances, which may differ. */
const streamsOf = async (store: EventStore, apiKey: string, now: number): Promise<string[]> => {
  const issued = await endOfStream(store, keyStream(apiKey), "forwards");
  if (!issued) throw new NotFound("There is no such key.");
  const at = Date.parse(eventTime(issued));
  const since = Math.min(Number.isNaN(at) ? issued.created : at, issued.created);
  return [keyStream(apiKey), ...monthsBetween(since, now).map((month) => usageStream(apiKey, month))];
};

/** `yyyy-mm`, from the month before the first time to the month after the last one. */
const monthsBetween = (first: number, last: number): string[] => {
  const months: string[] = [];
  const end = monthIndex(Math.max(first, last)) + 1;
  for (let month = monthIndex(first) - 1; month <= end; month++) {
    months.push(new Date(Date.UTC(2000, month - 24_000)).toISOString().slice(0, 7));
  }
  return months;
};

/** Months since year 0. */
const monthIndex = (time: number): number => {
  const date = new Date(time);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
};

/** The stream's first or last event. */
const endOfStream = async (
  store: EventStore,
  stream: string,
  direction: "forwards" | "backwards",
): Promise<RecordedEvent | undefined> => {
  for await (const event of store.readStream(stream, { direction, limit: 1 })) return event;
  return undefined;
};

/** The first event of the stream after the position, found by bisection: positions grow with revisions. */
const firstAfter = async (
  store: EventStore,
  end: RecordedEvent,
  after = -1,
): Promise<RecordedEvent | undefined> => {
  if (end.position <= after) return undefined;
  if (after < 0) return eventFrom(store, end.stream, 0);
  let first = end;
  let low = 0;
  while (low < first.revision) {
    const middle = Math.floor((low + first.revision) / 2);
    const event = await eventFrom(store, end.stream, middle);
    if (event && event.position > after) first = event;
    else low = middle + 1;
  }
  return first;
};

const eventFrom = async (
  store: EventStore,
  stream: string,
  from: number,
): Promise<RecordedEvent | undefined> => {
  for await (const event of store.readStream(stream, { from, limit: 1 })) return event;
  return undefined;
};

interface Cursor {
  /** The next event; undefined at the end. */
  readonly head: RecordedEvent | undefined;
  advance(): Promise<void>;
  close(): Promise<void>;
}

/** Starts to read the stream after its first event was consumed. */
const cursorAt = (store: EventStore, first: RecordedEvent, signal: AbortSignal | undefined): Cursor => {
  let head: RecordedEvent | undefined = first;
  let rest: AsyncIterator<RecordedEvent> | undefined;
  return {
    get head() {
      return head;
    },
    advance: async () => {
      rest ??= store
        .readStream(first.stream, { from: first.revision + 1, ...(signal && { signal }) })
        [Symbol.asyncIterator]();
      const { done, value } = await rest.next();
      head = done ? undefined : value;
    },
    close: async () => {
      await rest?.return?.();
    },
  };
};

const earlier = (best: Cursor | undefined, one: Cursor): Cursor | undefined =>
  one.head && (!best?.head || one.head.position < best.head.position) ? one : best;
