import type { EpochMs } from "../domain/time.ts";

/**
 * The port to the event store: an append-only log of streams. Every driver passes
 * test/contracts/event-store.ts.
 */

/** Names who caused an event, and by which request. It is the same in all events of one command. */
export interface EventMetadata {
  /** The id of the request that caused it. */
  readonly correlationId?: string;
  /** The id of the event or command that directly caused it. */
  readonly causationId?: string;
  /**
   * `key:<apiKey>`, `admin`, `auditor` (both also with `:<name>`), `cli` or `system`. It must not
   * be personal data.
   */
  readonly actor?: string;
  /** W3C trace context. */
  readonly traceparent?: string;
  /**
   * `log`: this machine's clock was wrong, and the event's `at` is the log's last time.
   * `corrected`: this machine's clock was right, but the log's last time was in the future. From
   * this event on, the right time is stored.
   */
  readonly clock?: "log" | "corrected";
}

/** An event to append. The caller chooses the id, so that a repeated append is recognised. */
export interface NewEvent {
  /** A UUID. Version 7 keeps the index compact. */
  readonly id: string;
  readonly type: string;
  /** A plain JSON object, without BigInt, Date or cycles. */
  readonly data: object;
  readonly metadata: EventMetadata;
}

/**
 * An event of the log. If another program appended it, `data` may be any JSON value, in spite of
 * its type: `validatedEventStore` replaces such events.
 */
export interface RecordedEvent extends NewEvent {
  readonly stream: string;
  /** The index within the stream, from 0. */
  readonly revision: number;
  /** Increases over the whole log, with gaps. */
  readonly position: number;
  /** The time at which the store appended it. */
  readonly created: EpochMs;
}

/** The stream's required state for an append: any, no events, or this last revision. */
export type ExpectedRevision = "any" | "none" | number;

export interface AppendResult {
  /** The revision of the last appended event. */
  readonly revision: number;
  /** The position of the last appended event. */
  readonly position: number;
}

export interface ReadOptions {
  /** Default: `forwards`. */
  readonly direction?: "forwards" | "backwards";
  /** The first revision to read. Default: the beginning, or the end if backwards. */
  readonly fromInclusive?: number;
  /** The maximum number of events. Default: all. */
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

export interface SubscribeOptions {
  /** Selects only events at later positions. Default: from the beginning. */
  readonly fromExclusive?: number;
  /**
   * Selects only events of streams whose names start with one of these. Default, and if empty: all.
   */
  readonly prefixes?: readonly string[];
  /** Leaves out this stream: its writer need not parse its own events. */
  readonly except?: string | undefined;
  /**
   * Events may be delivered this much later, so that batches are larger. A read of a stream ends
   * the wait. Only SQLite uses it. Default: 0.
   */
  readonly maxLagMs?: number | undefined;
  /** Ends the subscription without an error. */
  readonly signal?: AbortSignal;
}

/** Events that a subscription delivers together, in order of position. */
export interface EventBatch {
  readonly events: readonly RecordedEvent[];
  /**
   * All events up to here have been delivered: a later subscription may continue after this
   * position.
   */
  readonly position: number;
  /**
   * True once the subscription has reached the log's end as of its start. All later batches are
   * live.
   */
  readonly caughtUp: boolean;
}

/**
 * Limits of a stream's length. Reads do not show trimmed events. The last event is never trimmed.
 */
export interface Retention {
  readonly maxCount?: number;
  readonly maxAgeSeconds?: number;
}

export interface EventStore {
  /**
   * Appends all events or none, durably. Idempotent: an append with the same ids (at the revisions
   * after `expected`, or with `any` in the same order anywhere in the stream) stores nothing and
   * returns the first result.
   * @throws {WrongExpectedRevision} if the stream is not as expected; nothing is stored
   * @throws {EventStoreUnavailable} if the store cannot be reached or the outcome is unknown:
   * repeat with the same ids
   */
  append(stream: string, events: readonly NewEvent[], expected: ExpectedRevision): Promise<AppendResult>;
  /**
   * Reads one stream. A stream that does not exist is empty.
   * @throws {EventStoreUnavailable}
   */
  readStream(stream: string, options?: ReadOptions): AsyncIterable<RecordedEvent>;
  /**
   * The event at exactly this position; undefined if there is none, or it was trimmed.
   * @throws {EventStoreUnavailable}
   */
  eventAt(position: number): Promise<RecordedEvent | undefined>;
  /**
   * A catch-up subscription: delivers the existing events, then new ones, until `signal` or the
   * consumer's `break` ends it. At least one batch has `caughtUp`, even on an empty log; later
   * batches carry events or a new position. Buffers a bounded number of events, however slow the
   * consumer is.
   * @throws {EventStoreUnavailable} if the store cannot be reached: subscribe again after the last
   * batch's position
   */
  subscribe(options?: SubscribeOptions): AsyncIterable<EventBatch>;
  /**
   * Limits a stream's length, at once by `maxCount`, and from the next append to it at the latest
   * by `maxAgeSeconds`. SQLite deletes the trimmed events. EventStoreDB hides them from reads of
   * the stream, and removes them from its files and from subscriptions at its next scavenge.
   * Appends to a stream with `maxAgeSeconds` must expect `any`: `none` may be refused although
   * reads show no event.
   * @throws {EventStoreUnavailable}
   */
  setRetention(stream: string, retention: Retention): Promise<void>;
  /**
   * Deletes all events of a stream; a no-op if there are none. Later appends must expect `any` or
   * `none`; their revisions may continue those of the deleted events. SQLite overwrites the bytes.
   * EventStoreDB hides the events from reads of the stream, and removes them from its files and
   * from subscriptions at its next scavenge.
   * @throws {EventStoreUnavailable}
   */
  deleteStream(stream: string): Promise<void>;
  /**
   * Resolves if the store accepts appends.
   * @throws {EventStoreUnavailable}
   */
  ping(): Promise<void>;
  /**
   * Checks that the store's own structures agree, such as its indexes, as far as the driver can:
   * reads by stream and by position then show the same events. Takes as long as reading the log.
   * @throws {EventStoreDamaged}
   * @throws {EventStoreUnavailable}
   */
  checkIntegrity(): Promise<void>;
  /**
   * Waits for appends in progress and ends subscriptions. Later calls throw
   * {EventStoreUnavailable}.
   */
  close(): Promise<void>;
}

/**
 * The first event of the stream that `readStream` returns; undefined if there is none.
 * @throws {EventStoreUnavailable}
 */
export const readEvent = async (
  store: Pick<EventStore, "readStream">,
  stream: string,
  options: Omit<ReadOptions, "limit"> = {},
): Promise<RecordedEvent | undefined> => {
  for await (const event of store.readStream(stream, { ...options, limit: 1 })) return event;
  return undefined;
};

/** @throws {EventStoreUnavailable} */
export const readLastEvent = (
  store: Pick<EventStore, "readStream">,
  stream: string,
): Promise<RecordedEvent | undefined> => readEvent(store, stream, { direction: "backwards" });

/** The stream is not at the expected revision. */
export class WrongExpectedRevision extends Error {
  override readonly name = "WrongExpectedRevision";
  readonly stream: string;
  readonly expected: ExpectedRevision;
  /** The stream's last revision, -1 without events. */
  readonly actual: number;

  constructor(stream: string, expected: ExpectedRevision, actual: number) {
    super(`stream ${stream} is at revision ${actual}, not at ${expected}`);
    this.stream = stream;
    this.expected = expected;
    this.actual = actual;
  }
}

/**
 * The store's structures contradict each other: something other than the store has changed its
 * files.
 */
export class EventStoreDamaged extends Error {
  override readonly name = "EventStoreDamaged";
}

/** The store cannot be reached, or the outcome of an append is unknown. */
export class EventStoreUnavailable extends Error {
  override readonly name: string = "EventStoreUnavailable";
}

/** The log that this process has opened is gone. No later call succeeds: the process must end. */
export class EventStoreLost extends EventStoreUnavailable {
  override readonly name = "EventStoreLost";
}

/**
 * Returns the event's own time, `data.at` (ISO 8601, UTC), by which audits and reports select
 * events. An event without one gets the time at which it was stored, so that no audit omits it.
 */
export const eventTime = ({ data, created }: Pick<RecordedEvent, "data" | "created">): string =>
  hasTime(data) ? data.at : new Date(created).toISOString();

/** Events of other programs may have any JSON value, or bytes, as data. */
const hasTime = (data: unknown): data is { readonly at: string } =>
  typeof data === "object" && data !== null && "at" in data && typeof data.at === "string";
