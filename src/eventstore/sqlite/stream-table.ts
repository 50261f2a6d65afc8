import type { DatabaseSync } from "node:sqlite";
import type { Retention } from "../event-store.ts";
import { prepareFind, prepareGet } from "./database.ts";

export interface StreamRow {
  /** 0 if the stream does not exist yet. */
  readonly id: number;
  /** The last event's revision, -1 without events. */
  readonly revision: number;
  /** The first visible revision. */
  readonly first: number;
  readonly maxCount: number | null;
  readonly maxAgeSeconds: number | null;
}

const newStream: StreamRow = { id: 0, revision: -1, first: 0, maxCount: null, maxAgeSeconds: null };

/**
 * Bounds a transaction's length. Further trimmed events are hidden at once, and deleted by later
 * calls.
 */
const maxDeletedPerCall = 1000;

export type StreamTable = ReturnType<typeof createStreamTable>;

/**
 * The `streams` table. A row is created by the first append or the first retention, and never
 * deleted.
 */
export const createStreamTable = (db: DatabaseSync) => {
  const select = prepareFind<StreamRow>(
    db,
    `SELECT id, first_revision AS first, max_count AS maxCount, max_age_seconds AS maxAgeSeconds,
       ifnull((SELECT max(revision) FROM events WHERE stream = streams.id), -1) AS revision
     FROM streams WHERE name = ?`,
  );
  const insert = prepareGet<{ id: number }>(db, "INSERT INTO streams (name) VALUES (?) RETURNING id");
  const updateRetention = db.prepare("UPDATE streams SET max_count = ?, max_age_seconds = ? WHERE id = ?");
  const updateFirst = db.prepare("UPDATE streams SET first_revision = ? WHERE id = ?");
  const deleteBefore = db.prepare(
    `DELETE FROM events WHERE position IN
       (SELECT position FROM events WHERE stream = ? AND revision < ? ORDER BY revision LIMIT ${maxDeletedPerCall})`,
  );
  const deleteAll = db.prepare("DELETE FROM events WHERE stream = ?");
  const created = prepareFind<{ created: number }>(
    db,
    "SELECT created FROM events WHERE stream = ? AND revision = ?",
  );

  const find = (name: string): StreamRow => select(name) ?? newStream;
  const idOf = (name: string, row: StreamRow): number => (row === newStream ? insert(name).id : row.id);

  /**
   * The first revision from `low` on that was created at `since` or later; `high` if there is none.
   * It is found by bisection: times decrease only where an operator has corrected the clock.
   */
  const firstSince = (stream: number, low: number, high: number, since: number): number => {
    if (low >= high) return low;
    const middle = Math.floor((low + high) / 2);
    return (created(stream, middle)?.created ?? 0) < since
      ? firstSince(stream, middle + 1, high, since)
      : firstSince(stream, low, middle, since);
  };

  return {
    find,
    idOf,
    setRetention: (name: string, { maxCount, maxAgeSeconds }: Retention): void => {
      updateRetention.run(maxCount ?? null, maxAgeSeconds ?? null, idOf(name, find(name)));
    },
    /** Overwrites the events with zeros, also where `FAST` would leave whole pages. */
    deleteEvents: (name: string): void => {
      db.exec("PRAGMA secure_delete = ON");
      deleteAll.run(find(name).id);
      db.exec("PRAGMA secure_delete = FAST");
    },
    /**
     * Applies retention to a stream that ends at `revision`. The last event always stays. Returns
     * false if more events are to be deleted.
     */
    trim: ({ id, first, maxCount, maxAgeSeconds }: StreamRow, revision: number, now: number): boolean => {
      if (maxCount === null && maxAgeSeconds === null) return true;
      const firstByCount = Math.max(first, revision + 1 - (maxCount ?? Number.POSITIVE_INFINITY));
      const firstKept =
        maxAgeSeconds === null
          ? firstByCount
          : firstSince(id, firstByCount, revision, now - maxAgeSeconds * 1000);
      if (firstKept > first) updateFirst.run(firstKept, id);
      return deleteBefore.run(id, firstKept).changes < maxDeletedPerCall;
    },
  };
};
