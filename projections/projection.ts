import type { RecordedEvent } from "../src/eventstore/event-store.ts";

/**
 * A read model: a fold over the events of some streams, in partitions (mostly one for each stream).
 * States are plain JSON, so that a snapshot is the state, and EventStoreDB can run the same fold.
 * `apply` never validates: it ignores unknown events. It may mutate and return its argument.
 */
export interface Projection<S> {
  readonly name: string;
  /** Increase it when `apply` or the state's shape changes: older snapshots are then ignored. */
  readonly version: number;
  /** Prefixes of the names of the streams that it folds. */
  readonly prefixes: readonly string[];
  /** The event's partition; undefined to skip the event. */
  partition(event: RecordedEvent): string | undefined;
  initial(): S;
  apply(state: S, event: RecordedEvent): S;
}

export const hasPrefix = (stream: string, prefixes: readonly string[]): boolean =>
  prefixes.some((prefix) => stream.startsWith(prefix));

/** Folds each stream with the prefix into a partition of its own, as its decider does. */
export const streamProjection = <S, E>(
  name: string,
  version: number,
  prefix: string,
  { initial, evolve }: { initial(): S; evolve(state: S, event: E): S },
): Projection<S> => ({
  name,
  version,
  prefixes: [prefix],
  partition: ({ stream }) => stream,
  initial,
  apply: (state, { type, data }) => evolve(state, { type, data } as E),
});
