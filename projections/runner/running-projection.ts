import type { EventBatch, EventStore, RecordedEvent } from "../../src/eventstore/event-store.ts";
import { hasPrefix, type Projection } from "../projection.ts";
import type { Checkpoint, Partition, SnapshotRange, SnapshotStore } from "./snapshot.ts";

/** A projection with its states. */
export interface RunningProjection {
  readonly projection: Projection<unknown>;
  partitions: Map<string, Partition>;
  /** Everything up to here is in the partitions. */
  position: number;
  /** What the partitions hold, named by events that retention does not trim; undefined while there is none. */
  span: SnapshotRange | undefined;
  /** Why it has stopped: its fold threw. Its states may be half changed. */
  failure: FoldFailed | undefined;
}

/** A fold threw. The message names the event, never what is in it. */
export class FoldFailed extends Error {
  override readonly name = "FoldFailed";

  constructor({ name }: Projection<unknown>, event: RecordedEvent, cause: unknown) {
    const { type, stream, revision } = event;
    super(`the projection ${name} cannot fold ${type}, revision ${revision} of ${stream}`, { cause });
  }
}

/** Before the first position of every log. */
export const beginning = -1;

export const startOf = (projection: Projection<unknown>): RunningProjection => ({
  projection,
  partitions: new Map(),
  position: beginning,
  span: undefined,
  failure: undefined,
});

/**
 * Folds a batch. A partition may be ahead of its projection: a snapshot is written while events go on. `landmark` is the
 * batch's last event that stays in the log.
 * @throws {FoldFailed} and keeps it as the projection's failure
 */
export const foldBatch = (one: RunningProjection, batch: EventBatch, landmark?: Checkpoint): void => {
  for (const event of batch.events) {
    if (event.position <= one.position || !hasPrefix(event.stream, one.projection.prefixes)) continue;
    try {
      foldEvent(one, event);
    } catch (error) {
      one.failure = new FoldFailed(one.projection, event, error);
      throw one.failure;
    }
  }
  if (landmark && landmark.position > one.position) one.span = reaching(one.span, landmark);
  one.position = Math.max(one.position, batch.position);
};

const foldEvent = ({ projection, partitions }: RunningProjection, event: RecordedEvent): void => {
  const name = projection.partition(event);
  if (name === undefined) return;
  const partition = partitions.get(name);
  if (!partition) {
    const state = projection.apply(projection.initial(), event);
    partitions.set(name, { position: event.position, state });
  } else if (event.position > partition.position) {
    partition.state = projection.apply(partition.state, event);
    partition.position = event.position;
  }
};

/** Right after a restart the partitions are ahead of the events that were read again. */
const reaching = (span: SnapshotRange | undefined, { position, id }: Checkpoint): SnapshotRange => {
  const from = { position, id };
  return { from, upTo: span && span.upTo.position > position ? span.upTo : from };
};

/** Starts from the newest snapshot. False when there is one that is of another log, which is left aside. */
export const restore = async (
  one: RunningProjection,
  store: EventStore,
  snapshots: SnapshotStore,
): Promise<boolean> => {
  const saved = await snapshots.load(one.projection);
  if (!saved) return true;
  if (!(await holds(store, saved.span))) return false;
  one.partitions = saved.partitions;
  one.span = saved.span;
  one.position = saved.span.from.position;
  return true;
};

/** Whether the log is the one that the span was seen in: it holds the same events at both ends. */
const holds = async (store: EventStore, { from, upTo }: SnapshotRange): Promise<boolean> => {
  for (const { position, id } of [from, upTo]) {
    if ((await store.eventAt(position))?.id !== id) return false;
  }
  return true;
};

/** Writes a snapshot, unless nothing was folded yet or the fold has failed. @throws what the snapshot store throws */
export const save = async (one: RunningProjection, snapshots: SnapshotStore): Promise<void> => {
  const { projection, partitions, span, failure } = one;
  if (!span || failure) return;
  await snapshots.save(projection, partitions, () => {
    if (one.failure) throw one.failure;
    return one.span ?? span;
  });
};
