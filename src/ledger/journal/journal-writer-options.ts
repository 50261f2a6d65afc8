import { backgroundTime, type Time } from "../../async/time.ts";
import type { Serving, VoidedServing } from "../../domain/ledger/journal/serving.ts";
import type { EpochMs } from "../../domain/time.ts";
import type { EventStore } from "../../eventstore/event-store.ts";
import type { FlushedEvent, LostEntries } from "./journal-flush.ts";

export interface JournalWriterOptions {
  readonly store: EventStore;
  readonly journal: string;
  readonly clock: () => EpochMs;
  /** Measures deadlines and delays. Default: real time. */
  readonly time?: Time;
  /** Ends all repetitions, because the process ends. `close` then rejects. Default: never. */
  readonly signal?: AbortSignal;
  /** The time that a serving may wait to become durable. Default: 5,000. */
  readonly deadlineMs?: number;
  /** The number of processes of this machine that write to the store. Default: 1. */
  readonly processes?: number;
  /** The number of servings that may wait. Default: 10,000. */
  readonly maxPending?: number;
  /** The size of one append, approximately. Default: 60,000. */
  readonly maxFlushBytes?: number;
  /** Called after each durable flush, in order, before the callbacks of its servings. */
  readonly onFlushed?: (events: readonly FlushedEvent[]) => void;
  /**
   * Called when a charge is taken back: the void of the serving is durable, or the store has
   * refused the serving's flush after the deadline.
   */
  readonly onVoided?: (voided: VoidedServing) => void;
  /**
   * Called with a serving that has an Idempotency-Key and became durable after its deadline. The
   * callback must release the key, then void the serving.
   */
  readonly onExpired?: (serving: Serving, at: string) => void;
  /**
   * Called once if another process has closed the journal, before its servings fail. Add the lost
   * entries to the next journal.
   */
  readonly onTakenOver?: (lost: LostEntries) => void;
  /**
   * Called with errors of callbacks, and with permanent errors of the store, after which servings
   * fail and other entries are repeated.
   */
  readonly onError?: (error: unknown) => void;
}

const ignore = (): void => {};

export const defaultOptions: Required<Omit<JournalWriterOptions, "store" | "journal" | "clock">> = {
  time: backgroundTime,
  signal: new AbortController().signal,
  deadlineMs: 5_000,
  processes: 1,
  maxPending: 10_000,
  maxFlushBytes: 60_000,
  onFlushed: ignore,
  onVoided: ignore,
  onExpired: ignore,
  onTakenOver: ignore,
  onError: ignore,
};
