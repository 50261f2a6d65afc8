/** The calls of the main thread to the two workers. */
import type { ExpectedRevision, Retention } from "../event-store.ts";
import type { Selection } from "../subscriptions.ts";

export type WriterProtocol = {
  append: { request: AppendRequest; response: AppendResponse };
  /** Hides trimmed events, and responds with false if more of them are to be deleted. */
  retain: { request: { readonly stream: string; readonly retention: Retention }; response: boolean };
  /** Responds when the stream's events are overwritten in the file and in the write-ahead log. */
  delete: { request: { readonly stream: string }; response: undefined };
  /** Responds after an empty write transaction: a store can be opened although its disk is full. */
  ready: { request: undefined; response: undefined };
  /** Responds after a write. */
  probe: { request: undefined; response: undefined };
};

export type ReaderProtocol = {
  stream: { request: StreamRequest; response: StreamPage };
  log: { request: LogRequest; response: LogPage };
  /** The event at a position as JSON. */
  event: { request: number; response: string | undefined };
  /**
   * Completes the waiting request of this subscription with an empty page. Has no response itself.
   */
  forget: { request: number; response: never };
  /** The log has grown: repeats the waiting requests. Has no response. */
  wake: { request: undefined; response: never };
  probe: { request: undefined; response: undefined };
  /** Responds with the first damage that SQLite finds; undefined if there is none. */
  check: { request: undefined; response: string | undefined };
};

export interface AppendRequest {
  readonly stream: string;
  readonly expected: ExpectedRevision;
  readonly ids: readonly string[];
  /** Each event's members `type`, `data` and `metadata` as JSON, without braces. */
  readonly bodies: readonly string[];
  readonly now: number;
  /**
   * True if the log's last time is wrong: the times of this and of later events may then be
   * earlier.
   */
  readonly isCorrection: boolean;
}

export type AppendResponse =
  | { readonly revision: number; readonly position: number }
  | { readonly conflictsWith: number };

export interface StreamRequest {
  readonly stream: string;
  readonly backwards: boolean;
  readonly fromInclusive: number;
  readonly limit: number;
}

export interface StreamPage {
  /** The events as one JSON array. */
  readonly json: string;
  readonly count: number;
  /** The revision at which the next page begins. */
  readonly next: number;
  /** True if there is no next page. */
  readonly end: boolean;
}

export interface LogRequest extends Selection {
  /** Identifies a waiting request for `forget`. */
  readonly subscriptionId: number;
  readonly fromExclusive: number;
  /** If true, the request waits for an event, or until it has skipped other streams for a while. */
  readonly wait: boolean;
  /** Events of other processes may be delivered this much later, so that pages are larger. */
  readonly maxLagMs: number;
  /** The strategy of the previous page; absent for the first. */
  readonly strategy?: ScanStrategy;
}

/**
 * `log`: scans the log and skips other streams. `index`: reads the selected streams by the index of
 * streams.
 */
export type ScanStrategy = "log" | "index";

export interface LogPage {
  /** The events as one JSON array. */
  readonly json: string;
  readonly count: number;
  /** The position up to which the log is scanned. */
  readonly position: number;
  /** The log's last position. */
  readonly head: number;
  readonly strategy: ScanStrategy;
}
