import type { Projection } from "../projection.ts";

/** One partition's state and the position of the last event that it holds. */
export interface Partition {
  position: number;
  state: unknown;
}

/** An event by which a log is known again: a log restored from a backup has another one at its position, or none. */
export interface Checkpoint {
  readonly position: number;
  readonly id: string;
}

/** What of the log a snapshot holds: everything up to `from`, and of what comes after it something up to `upTo` at most. */
export interface SnapshotRange {
  readonly from: Checkpoint;
  readonly upTo: Checkpoint;
}

/** A projection's partitions, each of which tells how far it is. */
export interface Snapshot {
  readonly span: SnapshotRange;
  readonly partitions: Map<string, Partition>;
}

export interface SnapshotStore {
  /** Writes the snapshot, whole or not at all. The partitions and their span may go on changing while it is written. */
  save(
    projection: Projection<unknown>,
    partitions: ReadonlyMap<string, Partition>,
    span: () => SnapshotRange,
  ): Promise<void>;
  /**
   * The newest whole snapshot of this version of the projection, or undefined: then the log is told from zero. Whether
   * the log still holds its landmarks is for the caller to find out.
   */
  load(projection: Projection<unknown>): Promise<Snapshot | undefined>;
}

export const noSnapshots: SnapshotStore = {
  save: async () => {},
  load: async () => undefined,
};
