/** The event store's port: what the service needs of a log of streams, whatever keeps it. */

/** Who caused an event and under which request; the same on every event of one command. */
export interface EventMetadata {
  /** The request id of the command that began it. */
  readonly correlationId?: string;
  /** The id of the event or command that led to this one. */
  readonly causationId?: string;
  /** `key:<apiKey>`, `admin`, `cli` or `system`; never a person's name or address. */
  readonly actor?: string;
  /** W3C trace context. */
  readonly traceparent?: string;
}

/** An event about to be appended. `id` is given, so that a repeated append is recognised. */
export interface NewEvent {
  /** A UUID; time-ordered ones (version 7) keep the index small and fast. */
  readonly id: string;
  readonly type: string;
  /** A plain JSON object: no BigInt, no Date, no cycle. */
  readonly data: object;
  readonly metadata: EventMetadata;
}

/**
 * An event as the log holds it. In an event that another program appended, `data` may be any JSON value, whatever the type
 * says: `validatedEventStore` keeps such events from folds.
 */
export interface RecordedEvent extends NewEvent {
  readonly stream: string;
  /** Counts from 0 within its stream. */
  readonly revision: number;
  /** Grows over the whole log; not dense. */
  readonly position: number;
  /** When the store took it, in milliseconds since the epoch. */
  readonly created: number;
}

/** What the stream must look like for an append to be taken: anything, empty, or its last revision. */
export type ExpectedRevision = "any" | "none" | number;

export interface AppendResult {
  /** The revision of the last event appended. */
  readonly revision: number;
  /** The position of the last event appended. */
  readonly position: number;
}

export interface ReadOptions {
  /** Default `forwards`. */
  readonly direction?: "forwards" | "backwards";
  /** The first revision to read, inclusive. Default: the beginning (or the end, backwards). */
  readonly from?: number;
  /** At most so many events. Default: all. */
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

export interface SubscribeOptions {
  /** Only events of positions greater than this. Default: from the beginning. */
  readonly after?: number;
  /** Only events of streams whose name starts with one of these. Empty or absent: all. */
  readonly prefixes?: readonly string[];
  /** Ends the subscription without an error. */
  readonly signal?: AbortSignal;
}

/** What a subscription hears at one time, in order of position. */
export interface EventBatch {
  readonly events: readonly RecordedEvent[];
  /** Everything up to here has been told: a position from which a later subscription may go on. */
  readonly position: number;
  /** True once the log as of now has been told whole: from here on the batches are live. */
  readonly caughtUp: boolean;
}

/** How much of a stream is kept. Trimmed events vanish from reads; the last event of a stream always stays. */
export interface Retention {
  readonly maxCount?: number;
  readonly maxAgeSeconds?: number;
}

export interface EventStore {
  /**
   * Appends all events or none, durably. Appending the very same ids again (all of them, as the next revisions
   * after `expected`, or anywhere in order with `any`) is answered like the first time and stores nothing.
   * @throws {WrongExpectedRevision} when the stream is not as expected; nothing was stored.
   * @throws {EventStoreUnavailable} when the outcome is unknown or the store cannot be reached: append again with the same ids.
   */
  append(stream: string, events: readonly NewEvent[], expected: ExpectedRevision): Promise<AppendResult>;
  /** Reads one stream; a stream that is not there is empty. @throws {EventStoreUnavailable} */
  readStream(stream: string, options?: ReadOptions): AsyncIterable<RecordedEvent>;
  /** The event at exactly this position, or undefined: there is none, or it was trimmed. @throws {EventStoreUnavailable} */
  eventAt(position: number): Promise<RecordedEvent | undefined>;
  /**
   * Everything from a position on, then what comes, without end, until `signal` or the consumer's `break`. A batch
   * with `caughtUp` comes at least once even when there is no event; then only batches that carry events or
   * a newer position. The consumer's pace is kept: nothing is buffered without bound.
   * @throws {EventStoreUnavailable} when the store cannot be reached: subscribe again from the last batch's position.
   */
  subscribe(options?: SubscribeOptions): AsyncIterable<EventBatch>;
  /**
   * Sets what is kept of a stream; takes effect at the latest with the next append to it. A stream with an age may show
   * none of its events and still refuse `none`: it is appended to with `any`.
   * @throws {EventStoreUnavailable}
   */
  setRetention(stream: string, retention: Retention): Promise<void>;
  /** Answers when the store can take an append now. @throws {EventStoreUnavailable} */
  ping(): Promise<void>;
  /** Waits for what was appended, ends subscriptions and frees everything. Later calls throw {EventStoreUnavailable}. */
  close(): Promise<void>;
}

/** The stream was not at the expected revision. */
export class WrongExpectedRevision extends Error {
  override readonly name = "WrongExpectedRevision";
  readonly stream: string;
  readonly expected: ExpectedRevision;
  /** The stream's last revision, -1 when it has none. */
  readonly actual: number;

  constructor(stream: string, expected: ExpectedRevision, actual: number) {
    super(`stream ${stream} is at revision ${actual}, not at ${expected}`);
    this.stream = stream;
    this.expected = expected;
    this.actual = actual;
  }
}

/** The store cannot be reached, or an append's outcome is not known. */
export class EventStoreUnavailable extends Error {
  override readonly name = "EventStoreUnavailable";
}
