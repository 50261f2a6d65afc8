import { backgroundClock, type Clock } from "../../../src/async/clock.ts";
import { openDataFile } from "./data-file.ts";
import { idempotency } from "./idempotency.ts";
import { createIndexing } from "./index-lag.ts";
import type { Answer, Expected, LoggedEvent, ProposedEvent } from "./logged-event.ts";

export interface EventLogOptions {
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
  /** Milliseconds until an append can be read, drawn for each. Default 0: at once. */
  readonly indexLagMs?: () => number;
  /** How long a repeat waits for its answer while the first append is not indexed. Default 2,000. */
  readonly commitTimeoutMs?: number;
  /** Drives index lag and the commit timeout. Default: real time. */
  readonly timers?: Clock;
  /** Where the log is kept; without it, in memory alone. */
  readonly dataFile?: string | undefined;
}

export type EventLog = ReturnType<typeof openEventLog>;

/** A log of streams with an EventStoreDB server's rules for revisions, repeats and retention. */
export const openEventLog = ({
  clock = Date.now,
  indexLagMs = () => 0,
  commitTimeoutMs = 2_000,
  timers = backgroundClock,
  dataFile,
}: EventLogOptions = {}) => {
  /** What can be read. */
  const all: LoggedEvent[] = [];
  /** What is committed, indexed or not. */
  const streams = new Map<string, LoggedEvent[]>();
  const tombstones = new Set<string>();
  /** Positions of events that a scavenge has taken away. */
  const gaps = new Set<number>();
  const listeners = new Set<() => void>();
  const known = idempotency();
  let end = 0;
  let indexedEnd = 0;
  let lastCreated = 0;

  const commit = (events: readonly LoggedEvent[]): void => {
    for (const event of events) {
      const stream = streams.get(event.stream) ?? [];
      streams.set(event.stream, stream);
      stream.push(event);
      known.remember(event);
      end = event.position + sizeOf(event);
      lastCreated = event.created;
    }
  };

  const index = (events: readonly LoggedEvent[]): void => {
    for (const event of events) {
      all.push(event);
      indexedEnd = event.position + sizeOf(event);
    }
    for (const tell of listeners) tell();
  };
  const indexing = createIndexing({ lagMs: indexLagMs, timers, onIndexed: index });
  const isIndexed = ({ position }: { readonly position: number }): boolean => position < indexedEnd;

  const found = (events: readonly LoggedEvent[]): void => {
    commit(events);
    index(events);
  };
  const file = dataFile === undefined ? undefined : openDataFile(dataFile, found);

  const lastRevision = (stream: string): number => (streams.get(stream)?.length ?? 0) - 1;

  const place = (stream: string, proposed: readonly ProposedEvent[]): LoggedEvent[] => {
    const created = Math.max(Math.floor(clock()), lastCreated);
    const first = lastRevision(stream) + 1;
    let position = end;
    return proposed.map((event, index) => {
      const placed = { ...event, stream, revision: first + index, position, created };
      position += sizeOf(event);
      return placed;
    });
  };

  const judge = (stream: string, proposed: readonly ProposedEvent[], expected: Expected): Answer => {
    if (tombstones.has(stream)) return { is: "deleted" };
    const current = lastRevision(stream);
    const verdict = known.judge({ stream, ids: proposed.map(({ id }) => id), expected, current, revisions });
    if (verdict === "conflict") return { is: "conflict", actual: current };
    if (verdict !== "new") {
      const last = streams.get(stream)?.[verdict.repeated];
      return last && !isIndexed(last) ? { is: "unknown" } : answerFor("repeated", last);
    }
    const events = place(stream, proposed);
    file?.write(events);
    commit(events);
    indexing.add(events);
    return answerFor("appended", events.at(-1) ?? streams.get(stream)?.at(-1));
  };

  const whenIndexed = (answer: { readonly position: number }, run: () => void): void => {
    if (isIndexed(answer)) return void run();
    const look = (): void => {
      if (!isIndexed(answer)) return;
      listeners.delete(look);
      run();
    };
    listeners.add(look);
  };

  /** A refusal is answered at once, by what is committed; a success once it is indexed. */
  const append = (
    stream: string,
    proposed: readonly ProposedEvent[],
    expected: Expected,
    answer: (answer: Answer) => void,
  ): void => {
    const outcome = judge(stream, proposed, expected);
    if (outcome.is === "appended") whenIndexed(outcome, () => answer(outcome));
    else if (outcome.is === "unknown") timers.after(commitTimeoutMs, () => answer(outcome));
    else answer(outcome);
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

  /** What retention leaves of a stream to those who read it; $all goes on showing the rest, until a scavenge. */
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

  /** A stream's last event always stays. */
  const scavenge = (): void => {
    const staying = new Set<LoggedEvent | undefined>();
    for (const [stream, events] of streams) {
      for (const event of [...visible(stream), events.at(-1)]) staying.add(event);
    }
    for (const event of all.splice(0)) {
      if (staying.has(event)) all.push(event);
      else gaps.add(event.position);
    }
  };

  return {
    all: all as readonly LoggedEvent[],
    append,
    visible,
    lastRevision,
    /** Whether reads know the stream. */
    isKnown: (stream: string): boolean => indexedIn(stream).length > 0,
    isTombstone: (stream: string): boolean => tombstones.has(stream),
    tombstone: (stream: string): void => void tombstones.add(stream),
    /** Takes what retention hides out of $all too; what stays keeps its position. */
    scavenge,
    /** Whether reads of $all may begin there: an event is there, or was there before a scavenge. */
    begins: (position: number): boolean => gaps.has(position) || firstAt(position)?.position === position,
    /** Where in `all` the first event of at least this position is. */
    indexAt,
    /** The first event of at least this position. */
    firstAt,
    /** Forgets which ids it has seen, as a server does after so many bytes. */
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

const answerFor = (is: "appended" | "repeated", event: LoggedEvent | undefined): Answer => ({
  is,
  revision: event?.revision ?? -1,
  position: event?.position ?? -1,
});
