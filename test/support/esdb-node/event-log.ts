import { openDataFile } from "./data-file.ts";
import { idempotency } from "./idempotency.ts";
import type { Answer, Expected, LoggedEvent, ProposedEvent } from "./logged-event.ts";

export interface EventLogOptions {
  readonly clock?: () => number;
  /** Where the log is kept; without it, in memory alone. */
  readonly dataFile?: string | undefined;
}

export type EventLog = ReturnType<typeof openEventLog>;

/** A log of streams with an EventStoreDB server's rules for revisions, repeats and retention. */
export const openEventLog = ({ clock = Date.now, dataFile }: EventLogOptions = {}) => {
  const all: LoggedEvent[] = [];
  const streams = new Map<string, LoggedEvent[]>();
  const tombstones = new Set<string>();
  /** Positions of events that a scavenge has taken away. */
  const gaps = new Set<number>();
  const listeners = new Set<() => void>();
  const known = idempotency();
  let end = 0;

  const keep = (events: readonly LoggedEvent[]): void => {
    for (const event of events) {
      const stream = streams.get(event.stream) ?? [];
      streams.set(event.stream, stream);
      stream.push(event);
      all.push(event);
      known.remember(event);
      end = event.position + sizeOf(event);
    }
  };

  const file = dataFile === undefined ? undefined : openDataFile(dataFile, keep);

  const lastRevision = (stream: string): number => (streams.get(stream)?.length ?? 0) - 1;

  const place = (stream: string, proposed: readonly ProposedEvent[]): LoggedEvent[] => {
    const created = Math.max(Math.floor(clock()), all.at(-1)?.created ?? 0);
    const first = lastRevision(stream) + 1;
    let position = end;
    return proposed.map((event, index) => {
      const placed = { ...event, stream, revision: first + index, position, created };
      position += sizeOf(event);
      return placed;
    });
  };

  const append = (stream: string, proposed: readonly ProposedEvent[], expected: Expected): Answer => {
    if (tombstones.has(stream)) return { is: "deleted" };
    const current = lastRevision(stream);
    const verdict = known.judge({ stream, ids: proposed.map(({ id }) => id), expected, current, revisions });
    if (verdict === "conflict") return { is: "conflict", actual: current };
    if (verdict !== "new") return answerFor("repeated", streams.get(stream)?.[verdict.repeated]);
    const events = place(stream, proposed);
    file?.write(events);
    keep(events);
    for (const tell of listeners) tell();
    return answerFor("appended", events.at(-1) ?? streams.get(stream)?.at(-1));
  };

  const revisions = (stream: string, revision: number): LoggedEvent | undefined =>
    streams.get(stream)?.[revision];

  const retentionOf = (stream: string): Retention => {
    const last = streams.get(`$$${stream}`)?.at(-1);
    return last === undefined ? {} : JSON.parse(Buffer.from(last.data).toString("utf8"));
  };

  /** What retention leaves of a stream to those who read it; $all goes on showing the rest, until a scavenge. */
  const visible = (stream: string): LoggedEvent[] => {
    const events = streams.get(stream) ?? [];
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
    onAppend: (listener: () => void): (() => void) => {
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
