import { backgroundTime, type Time } from "../../../src/async/time.ts";
import { openDataFile } from "./data-file.ts";
import { idempotency } from "./idempotency.ts";
import { createIndexing } from "./index-lag.ts";
import type { AppendOutcome, Expected, LoggedEvent, ProposedEvent } from "./logged-event.ts";

export interface EventLogOptions {
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
  /** Milliseconds until an append is indexed, called for each. Default: 0. */
  readonly indexLagMs?: () => number;
  /** How long a repeat waits while the first append is not indexed. Default: 2,000. */
  readonly commitTimeoutMs?: number;
  /** Drives index lag and the commit timeout. Default: real time. */
  readonly time?: Time;
  /** Stores the log. Default: in memory only. */
  readonly dataFile?: string | undefined;
}

export type EventLog = ReturnType<typeof openEventLog>;

/** A log with an EventStoreDB server's rules for revisions, repeats and retention. */
export const openEventLog = ({
  clock = Date.now,
  indexLagMs = () => 0,
  commitTimeoutMs = 2_000,
  time = backgroundTime,
  dataFile,
}: EventLogOptions = {}) => {
  /** The indexed events, which reads show. */
  const all: LoggedEvent[] = [];
  /** The committed events, indexed or not. */
  const streams = new Map<string, LoggedEvent[]>();
  const tombstones = new Set<string>();
  /** Positions of events that a scavenge has removed. */
  const gaps = new Set<number>();
  const listeners = new Set<() => void>();
  const known = idempotency();
  let end = 0;
  let indexedEnd = 0;

  const commit = (events: readonly LoggedEvent[]): void => {
    for (const event of events) {
      const stream = streams.get(event.stream) ?? [];
      streams.set(event.stream, stream);
      stream.push(event);
      known.remember(event);
      end = event.position + sizeOf(event);
    }
  };

  const index = (events: readonly LoggedEvent[]): void => {
    for (const event of events) {
      all.push(event);
      indexedEnd = event.position + sizeOf(event);
    }
    for (const notify of listeners) notify();
  };
  const indexing = createIndexing({ lagMs: indexLagMs, time, onIndexed: index });
  const isIndexed = ({ position }: { readonly position: number }): boolean => position < indexedEnd;

  const found = (events: readonly LoggedEvent[]): void => {
    commit(events);
    index(events);
  };
  const file = dataFile === undefined ? undefined : openDataFile(dataFile, found);

  const lastRevision = (stream: string): number => (streams.get(stream)?.length ?? 0) - 1;

  const place = (stream: string, proposed: readonly ProposedEvent[]): LoggedEvent[] => {
    const created = Math.floor(clock()); // goes back with the server's clock
    const first = lastRevision(stream) + 1;
    let position = end;
    return proposed.map((event, index) => {
      const placed = { ...event, stream, revision: first + index, position, created };
      position += sizeOf(event);
      return placed;
    });
  };

  const judge = (stream: string, proposed: readonly ProposedEvent[], expected: Expected): AppendOutcome => {
    if (tombstones.has(stream)) return { is: "deleted" };
    const actual = lastRevision(stream);
    // After a soft delete, the server accepts the expectation of no stream, too.
    const isHidden = (retentionOf(stream).$tb ?? 0) > actual;
    const current = expected === "none" && isHidden ? -1 : actual;
    const verdict = known.judge({ stream, ids: proposed.map(({ id }) => id), expected, current, revisions });
    if (verdict === "conflict") return { is: "conflict", actual };
    if (verdict !== "new") {
      const last = streams.get(stream)?.[verdict.repeated];
      return last && !isIndexed(last) ? { is: "unknown" } : responseFor("repeated", last);
    }
    const events = place(stream, proposed);
    file?.write(events);
    commit(events);
    indexing.add(events);
    return responseFor("appended", events.at(-1) ?? streams.get(stream)?.at(-1));
  };

  const whenIndexed = (response: { readonly position: number }, run: () => void): void => {
    if (isIndexed(response)) return void run();
    const check = (): void => {
      if (!isIndexed(response)) return;
      listeners.delete(check);
      run();
    };
    listeners.add(check);
  };

  /** Responds to a conflict at once, by the committed events; to a success once it is indexed. */
  const append = (
    stream: string,
    proposed: readonly ProposedEvent[],
    expected: Expected,
    response: (response: AppendOutcome) => void,
  ): void => {
    const outcome = judge(stream, proposed, expected);
    if (outcome.is === "appended") whenIndexed(outcome, () => response(outcome));
    else if (outcome.is === "unknown") time.after(commitTimeoutMs, () => response(outcome));
    else response(outcome);
  };

  const revisions = (stream: string, revision: number): LoggedEvent | undefined =>
    streams.get(stream)?.[revision];

  const indexedIn = (stream: string): LoggedEvent[] => {
    const events = streams.get(stream) ?? [];
    const last = events.findLastIndex(isIndexed);
    return last === events.length - 1 ? events : events.slice(0, last + 1);
  };

  const retentionOf = (stream: string): Retention => {
    const last = indexedIn(`$$${stream}`).at(-1);
    return last === undefined ? {} : JSON.parse(Buffer.from(last.data).toString("utf8"));
  };

  /**
   * The events of a stream that retention does not hide. $all shows the hidden ones until a
   * scavenge.
   */
  const visible = (stream: string): LoggedEvent[] => {
    const events = indexedIn(stream);
    const { $maxCount = events.length, $maxAge, $tb = 0 } = retentionOf(stream);
    const kept = events.slice(Math.max($tb, events.length - $maxCount));
    if ($maxAge === undefined) return kept;
    const oldest = clock() - $maxAge * 1000;
    return kept.filter(({ created }) => created >= oldest);
  };

  const indexAt = (position: number): number => {
    let [low, high] = [0, all.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((all[middle]?.position ?? 0) < position) low = middle + 1;
      else high = middle;
    }
    return low;
  };

  const firstAt = (position: number): LoggedEvent | undefined => all[indexAt(position)];

  /** Removes hidden events from $all. A stream's last event always stays. */
  const scavenge = (): void => {
    const remaining = new Set<LoggedEvent | undefined>();
    for (const [stream, events] of streams) {
      for (const event of [...visible(stream), events.at(-1)]) remaining.add(event);
    }
    for (const event of all.splice(0)) {
      if (remaining.has(event)) all.push(event);
      else gaps.add(event.position);
    }
  };

  return {
    all: all as readonly LoggedEvent[],
    /** Milliseconds since the epoch. */
    now: clock,
    append,
    visible,
    lastRevision,
    /** True if the stream has indexed events. */
    isKnown: (stream: string): boolean => indexedIn(stream).length > 0,
    isTombstone: (stream: string): boolean => tombstones.has(stream),
    tombstone: (stream: string): void => void tombstones.add(stream),
    /** Removes from $all what retention hides. Positions do not change. */
    scavenge,
    /**
     * True if reads of $all may start there: an event has this position, or had it before a
     * scavenge.
     */
    begins: (position: number): boolean => gaps.has(position) || firstAt(position)?.position === position,
    /** The index in `all` of the first event at or after this position. */
    indexAt,
    /** The first event at or after this position. */
    firstAt,
    /** Forgets the known ids, as a server does when its cache is full. */
    forgetIds: known.forget,
    onIndexed: (listener: () => void): (() => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: (): void => file?.close(),
  };
};

interface Retention {
  readonly $maxCount?: number;
  readonly $maxAge?: number;
  readonly $tb?: number;
}

const recordOverhead = 100;
const sizeOf = ({ type, data, metadata }: ProposedEvent): number =>
  recordOverhead + type.length * 2 + data.length + metadata.length;

const responseFor = (is: "appended" | "repeated", event: LoggedEvent | undefined): AppendOutcome => ({
  is,
  revision: event?.revision ?? -1,
  position: event?.position ?? -1,
});
