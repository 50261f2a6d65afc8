import type { DatabaseSync } from "node:sqlite";
import { optional } from "./row.ts";
import type { StreamRow } from "./streams.ts";

/** Rows deleted at one append, so that no transaction grows long; the rest is hidden at once and deleted later. */
const deletedAtOnce = 1000;

/** Applies a stream's retention within the transaction that is open. */
export const trimmer = (db: DatabaseSync) => {
  const created = optional<{ created: number }>(
    db,
    "SELECT created FROM events WHERE stream = ? AND revision = ?",
  );
  const hide = db.prepare("UPDATE streams SET first_revision = ? WHERE id = ?");
  const remove = db.prepare(
    `DELETE FROM events WHERE position IN
       (SELECT position FROM events WHERE stream = ? AND revision < ? ORDER BY revision LIMIT ${deletedAtOnce})`,
  );

  /** The first revision in [low, high] created at `since` or later, or `high`; times never go back within a stream. */
  const firstSince = (stream: number, from: number, to: number, since: number): number => {
    let [low, high] = [from, to];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if ((created(stream, middle)?.created ?? 0) < since) low = middle + 1;
      else high = middle;
    }
    return low;
  };

  return (stream: StreamRow, revision: number, now: number): void => {
    if (stream.maxCount === null && stream.maxAgeSeconds === null) return;
    let first = Math.max(stream.first, revision + 1 - (stream.maxCount ?? Number.POSITIVE_INFINITY));
    if (stream.maxAgeSeconds !== null) {
      first = firstSince(stream.id, first, revision, now - stream.maxAgeSeconds * 1000);
    }
    if (first > stream.first) hide.run(first, stream.id);
    remove.run(stream.id, first);
  };
};
