import type { DatabaseSync } from "node:sqlite";
import type { ExpectedRevision } from "../event-store.ts";
import { prepareFind, prepareGet } from "./database.ts";
import type { AppendRequest, AppendResponse } from "./protocol.ts";
import type { StreamRow, StreamTable } from "./stream-table.ts";

interface StoredEvent {
  readonly stream: number;
  readonly revision: number;
  readonly position: number;
}

/** Appends within the open transaction. A conflict writes nothing, and so needs no savepoint. */
export const createAppend = (db: DatabaseSync, streams: StreamTable) => {
  const findById = prepareFind<StoredEvent>(db, "SELECT stream, revision, position FROM events WHERE id = ?");
  const oldest = prepareGet<{ revision: number }>(
    db,
    "SELECT min(revision) AS revision FROM events WHERE stream = ?",
  );
  const insert = db.prepare(
    "INSERT INTO events (stream, revision, id, created, body) VALUES (?, ?, ?, ?, ?)",
  );

  const insertAll = (
    row: StreamRow,
    { stream, ids, bodies }: AppendRequest,
    created: number,
  ): AppendResponse => {
    const streamId = streams.idOf(stream, row);
    let { revision } = row;
    let position = 0;
    for (const [index, id] of ids.entries()) {
      revision += 1;
      position = Number(insert.run(streamId, revision, id, created, bodies[index] ?? null).lastInsertRowid);
    }
    return { revision, position };
  };

  /**
   * Returns the first append's response if the request repeats that append, otherwise undefined.
   * `found` has an entry for each id.
   */
  const respondToRepeat = (
    row: StreamRow,
    found: readonly (StoredEvent | undefined)[],
    expected: ExpectedRevision,
  ): AppendResponse | undefined => {
    // Retention may have deleted the append's first events: then its other events are the oldest of
    // the stream.
    const trimmed = found.findIndex((event) => event !== undefined);
    const kept = found.slice(trimmed).filter((event) => event?.stream === row.id);
    const [first, last] = [kept[0], kept.at(-1)];
    if (first === undefined || last === undefined || kept.length < found.length - trimmed) return undefined;
    if (!isAscending(kept)) return undefined;
    const start = first.revision - trimmed;
    if (trimmed > 0 && (start < 0 || first.revision !== oldest(row.id).revision)) return undefined;
    const isExact = start === nextRevision(expected) && last.revision - start === found.length - 1;
    return expected === "any" || isExact ? { revision: last.revision, position: last.position } : undefined;
  };

  return (row: StreamRow, request: AppendRequest, created: number): AppendResponse => {
    const { ids, expected } = request;
    const conflict = { conflictsWith: row.revision };
    const found = ids.map((id) => findById(id));
    if (found.some((event) => event !== undefined)) return respondToRepeat(row, found, expected) ?? conflict;
    const isExpected = expected === "any" || nextRevision(expected) === row.revision + 1;
    return isExpected ? insertAll(row, request, created) : conflict;
  };
};

const isAscending = (events: readonly (StoredEvent | undefined)[]): boolean =>
  events.every((event, index) => index === 0 || (event?.revision ?? 0) > (events[index - 1]?.revision ?? 0));

/** The revision of the append's first event. */
const nextRevision = (expected: ExpectedRevision): number => {
  if (expected === "any") return Number.NaN;
  return expected === "none" ? 0 : expected + 1;
};
