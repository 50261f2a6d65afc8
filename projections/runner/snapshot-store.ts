import type { Projection } from "../projection.ts";

/** A partition's state, and the position of the last event in it. */
export interface Partition {
  position: number;
  state: unknown;
}

/**
 * An event that identifies a log: a log restored from a backup has another event at its position,
 * or none.
 */
export interface Checkpoint {
  readonly position: number;
  readonly id: string;
}

/** A snapshot includes all events up to `allUpTo`, and none after `noneAfter`. */
export interface SnapshotRange {
  readonly allUpTo: Checkpoint;
  readonly noneAfter: Checkpoint;
}

export interface Snapshot {
  readonly range: SnapshotRange;
  readonly partitions: Map<string, Partition>;
}

/** The port to the stored snapshots of projections. */
export interface SnapshotStore {
  /**
   * Writes a complete snapshot or nothing. The partitions and their range may change while it is
   * written.
   */
  save(
    projection: Projection<unknown>,
    partitions: ReadonlyMap<string, Partition>,
    range: () => SnapshotRange,
  ): Promise<void>;
  /**
   * The last complete snapshot of this version of the projection, or undefined. It may be of
   * another log: the caller must check this.
   */
  load(projection: Projection<unknown>): Promise<Snapshot | undefined>;
}

export const noSnapshots: SnapshotStore = {
  save: async () => {},
  load: async () => undefined,
};
