import type { EventBatch, EventStore, RecordedEvent } from "../../src/eventstore/event-store.ts";
import { hasPrefix, type Projection } from "../projection.ts";
import type { Checkpoint, Partition, SnapshotRange, SnapshotStore } from "./snapshot-store.ts";

export const beforeFirst = -1;

/** A fold threw. The message names the event and quotes nothing of its data. */
class FoldFailed extends Error {
  override readonly name = "FoldFailed";

  constructor({ name }: Projection<unknown>, { type, stream, revision }: RecordedEvent, cause: unknown) {
    super(`the projection ${name} cannot fold ${type}, revision ${revision} of ${stream}`, { cause });
  }
}

/** A projection's states, and the position of the log that they have reached. */
export class RunningProjection {
  readonly projection: Projection<unknown>;
  #partitions = new Map<string, Partition>();
  /** All events up to here are folded. */
  #position = beforeFirst;
  /** The part of the log that the partitions include; undefined before the first checkpoint. */
  #range: SnapshotRange | undefined;
  #failure: FoldFailed | undefined;
  #changes = 0;

  constructor(projection: Projection<unknown>) {
    this.projection = projection;
  }

  get partitions(): ReadonlyMap<string, Partition> {
    return this.#partitions;
  }

  get position(): number {
    return this.#position;
  }

  /** Grows with each event that changes a state. */
  get changes(): number {
    return this.#changes;
  }

  /** The failure of a fold, after which the states may be inconsistent. */
  get failure(): FoldFailed | undefined {
    return this.#failure;
  }

  /**
   * Folds a batch. `checkpoint` is the batch's last event that retention never trims.
   * @throws {FoldFailed}
   */
  fold(batch: EventBatch, checkpoint: Checkpoint | undefined): void {
    for (const event of batch.events) {
      if (event.position <= this.#position || !hasPrefix(event.stream, this.projection.prefixes)) continue;
      try {
        this.#foldEvent(event);
      } catch (error) {
        this.#failure = new FoldFailed(this.projection, event, error);
        throw this.#failure;
      }
    }
    if (checkpoint && checkpoint.position > this.#position) this.#extendRange(checkpoint);
    this.#position = Math.max(this.#position, batch.position);
  }

  /** A partition may be ahead of the projection: snapshots are written while events are folded. */
  #foldEvent(event: RecordedEvent): void {
    const name = this.projection.partition(event);
    if (name === undefined) return;
    this.#changes += 1;
    const partition = this.#partitions.get(name);
    if (!partition) {
      const state = this.projection.apply(this.projection.initial(), event);
      this.#partitions.set(name, { position: event.position, state });
    } else if (event.position > partition.position) {
      partition.state = this.projection.apply(partition.state, event);
      partition.position = event.position;
    }
  }

  /** After a restart the partitions may include events beyond the checkpoint. */
  #extendRange({ position, id }: Checkpoint): void {
    const allUpTo = { position, id };
    const known = this.#range?.noneAfter;
    this.#range = { allUpTo, noneAfter: known && known.position > position ? known : allUpTo };
  }

  /**
   * Loads the newest snapshot. Resolves with false if it belongs to another log. Then the
   * projection starts from zero.
   */
  async restore(store: EventStore, snapshots: SnapshotStore): Promise<boolean> {
    const snapshot = await snapshots.load(this.projection);
    if (!snapshot) return true;
    const { allUpTo, noneAfter } = snapshot.range;
    for (const { position, id } of [allUpTo, noneAfter]) {
      if ((await store.eventAt(position))?.id !== id) return false;
    }
    this.#partitions = snapshot.partitions;
    this.#range = snapshot.range;
    this.#position = allUpTo.position;
    return true;
  }

  /** Forgets all states, so that only events after this position are folded. */
  startAfter(position: number): void {
    this.#partitions = new Map();
    this.#range = undefined;
    this.#position = position;
  }

  /**
   * Writes a snapshot, unless no checkpoint was reached or a fold has failed.
   * @throws the errors of the snapshot store
   */
  async save(snapshots: SnapshotStore): Promise<void> {
    const range = this.#range;
    if (!range || this.#failure) return;
    await snapshots.save(this.projection, this.#partitions, () => {
      if (this.#failure) throw this.#failure;
      return this.#range ?? range;
    });
  }
}
