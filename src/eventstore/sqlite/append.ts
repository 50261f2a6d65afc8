import type { DatabaseSync } from "node:sqlite";
import type { ExpectedRevision } from "../event-store.ts";
import type { AppendAnswer, AppendRequest } from "./protocol.ts";
import { optional, required } from "./row.ts";
import type { StreamRow, StreamTable } from "./streams.ts";

/** Where an event lies that was stored before. */
interface Known {
  readonly stream: number;
  readonly revision: number;
  readonly position: number;
}

/** Appends within the transaction that is open. A conflict has written nothing, so it needs no savepoint. */
export const appender = (db: DatabaseSync, streams: StreamTable) => {
  const known = optional<Known>(db, "SELECT stream, revision, position FROM events WHERE id = ?");
  const oldest = required<{ revision: number }>(
    db,
    "SELECT min(revision) AS revision FROM events WHERE stream = ?",
  );
  const insert = db.prepare(
    "INSERT INTO events (stream, revision, id, created, body) VALUES (?, ?, ?, ?, ?)",
  );

  const store = (row: StreamRow, { stream, ids, bodies }: AppendRequest, created: number): AppendAnswer => {
    const streamId = streams.idOf(stream, row);
    let { revision } = row;
    let position = 0;
    for (const [index, id] of ids.entries()) {
      revision += 1;
      position = Number(insert.run(streamId, revision, id, created, bodies[index] ?? null).lastInsertRowid);
    }
    return { revision, position };
  };

  /** The answer that the very same append got the first time, or undefined when these ids were stored otherwise. */
  const repeated = (
    row: StreamRow,
    found: readonly (Known | undefined)[],
    expected: ExpectedRevision,
  ): AppendAnswer | undefined => {
    // Retention may have taken the head of a batch; then what is left of the batch is the oldest of its stream.
    const trimmed = found.findIndex((event) => event !== undefined);
    const kept = found.slice(trimmed).filter((event) => event?.stream === row.id);
    const [first, last] = [kept[0], kept.at(-1)];
    if (first === undefined || last === undefined || kept.length < found.length - trimmed) return undefined;
    if (!ascending(kept)) return undefined;
    const start = first.revision - trimmed;
    if (trimmed > 0 && (start < 0 || first.revision !== oldest(row.id).revision)) return undefined;
    const exact = start === after(expected) && last.revision - start === found.length - 1;
    return expected === "any" || exact ? { revision: last.revision, position: last.position } : undefined;
  };

  return (row: StreamRow, request: AppendRequest, created: number): AppendAnswer => {
    const conflict = { conflictsWith: row.revision };
    const found = request.ids.map((id) => known(id));
    if (found.some((event) => event !== undefined)) return repeated(row, found, request.expected) ?? conflict;
    const fits = request.expected === "any" || after(request.expected) === row.revision + 1;
    return fits ? store(row, request, created) : conflict;
  };
};

const ascending = (events: readonly (Known | undefined)[]): boolean =>
  events.every((event, index) => index === 0 || (event?.revision ?? 0) > (events[index - 1]?.revision ?? 0));

/** The revision that the first event of an append takes. */
const after = (expected: ExpectedRevision): number => {
  if (expected === "any") return Number.NaN;
  return expected === "none" ? 0 : expected + 1;
};
