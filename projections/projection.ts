import type { RecordedEvent } from "../src/eventstore/event-store.ts";

/**
 * A read model: a fold over the events of some streams, kept in partitions (one a stream, mostly). States are plain
 * JSON values, so that a snapshot is the state and the same fold runs wherever events are. `apply` never judges: it
 * ignores what it does not know, and may change the state that it is given and return it.
 */
export interface Projection<S> {
  readonly name: string;
  /** Raised when `apply` or the state's shape changes: older snapshots are then left aside. */
  readonly version: number;
  /** The streams it hears, by the beginnings of their names. */
  readonly prefixes: readonly string[];
  /** The partition an event belongs to, or undefined for none. */
  partition(event: RecordedEvent): string | undefined;
  initial(): S;
  apply(state: S, event: RecordedEvent): S;
}

/** Whether a stream is one of those that begin so. */
export const hasPrefix = (stream: string, prefixes: readonly string[]): boolean =>
  prefixes.some((prefix) => stream.startsWith(prefix));
