import type { DatabaseSync } from "node:sqlite";
import type { Retention } from "../event-store.ts";
import { optional, required } from "./row.ts";

export interface StreamRow {
  /** 0 when the stream is not there yet. */
  readonly id: number;
  /** The last event's revision, -1 when there is none. */
  readonly revision: number;
  /** The first event still shown. */
  readonly first: number;
  readonly maxCount: number | null;
  readonly maxAgeSeconds: number | null;
}

const absent: StreamRow = { id: 0, revision: -1, first: 0, maxCount: null, maxAgeSeconds: null };

export type StreamTable = ReturnType<typeof streamTable>;

/** A stream is there from its first append or its first retention on, and never goes. */
export const streamTable = (db: DatabaseSync) => {
  const select = optional<StreamRow>(
    db,
    `SELECT id, first_revision AS first, max_count AS maxCount, max_age_seconds AS maxAgeSeconds,
       ifnull((SELECT max(revision) FROM events WHERE stream = streams.id), -1) AS revision
     FROM streams WHERE name = ?`,
  );
  const insert = required<{ id: number }>(db, "INSERT INTO streams (name) VALUES (?) RETURNING id");
  const retain = db.prepare("UPDATE streams SET max_count = ?, max_age_seconds = ? WHERE id = ?");

  const find = (name: string): StreamRow => select(name) ?? absent;
  const idOf = (name: string, row: StreamRow): number => (row === absent ? insert(name).id : row.id);

  const setRetention = (name: string, { maxCount, maxAgeSeconds }: Retention): void => {
    retain.run(maxCount ?? null, maxAgeSeconds ?? null, idOf(name, find(name)));
  };
  return { find, idOf, setRetention };
};
