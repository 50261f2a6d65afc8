import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { LogPage, LogRequest, StreamPage, StreamRequest } from "./protocol.ts";
import { optional, required } from "./row.ts";

/** Bounds of one page: what the main thread parses at one go, and what one look-up may hold the reader. */
const eventsPerPage = 1024;
const charactersPerPage = 2 * 1024 * 1024;
const scannedPerPage = 16_384;

/** A whole event as JSON text, made by SQLite: cheaper than five columns and a string built here. */
const asJson = `'{"id":"' || e.id || '",' || e.body || ',"stream":' || json_quote(s.name) ||
  ',"revision":' || e.revision || ',"position":' || e.position || ',"created":' || e.created || '}'`;

type Row = readonly [key: number, json: string];

/** Reads a page of rows as one JSON array, which crosses to the main thread as one string and is parsed there once. */
const collect = (statement: StatementSync, values: readonly (number | string)[]) => {
  const events: string[] = [];
  let [last, characters] = [-1, 0];
  for (const row of statement.iterate(...values)) {
    const [key, json] = row as unknown as Row;
    events.push(json);
    last = key;
    characters += json.length;
    if (characters > charactersPerPage) break;
  }
  const cut = characters > charactersPerPage;
  return { json: `[${events.join(",")}]`, count: events.length, last, cut };
};

const prepareRows = (db: DatabaseSync, sql: string): StatementSync => {
  const statement = db.prepare(sql);
  statement.setReturnArrays(true);
  return statement;
};

/** Pages of one stream, either way. */
export const streamPages = (db: DatabaseSync) => {
  const select = (side: string, order: string): StatementSync =>
    prepareRows(
      db,
      `SELECT e.revision, ${asJson} FROM streams s JOIN events e ON e.stream = s.id
       WHERE s.name = ? AND e.revision >= s.first_revision AND e.revision ${side} ?
       ORDER BY e.revision ${order} LIMIT ?`,
    );
  const forwards = select(">=", "ASC");
  const backwards = select("<=", "DESC");

  return ({ stream, from, limit, backwards: back }: StreamRequest): StreamPage => {
    const wanted = Math.min(limit, eventsPerPage);
    const { json, count, last, cut } = collect(back ? backwards : forwards, [stream, from, wanted]);
    return { json, count, revision: last, end: count < wanted && !cut };
  };
};

/** Pages of the whole log, narrowed to streams whose names start so. */
export const logPages = (db: DatabaseSync) => {
  const nth = optional<{ position: number }>(
    db,
    "SELECT position FROM events WHERE position > ? ORDER BY position LIMIT 1 OFFSET ?",
  );
  const newest = required<{ position: number | null }>(db, "SELECT max(position) AS position FROM events");
  const statements = new Map<number, StatementSync>();

  const statementFor = (prefixes: number): StatementSync => {
    const found = statements.get(prefixes);
    if (found !== undefined) return found;
    // A comparison of beginnings, not LIKE: a name's own % and _ mean themselves, and case counts.
    const narrowed =
      Array.from({ length: prefixes }, () => "substr(s.name, 1, ?) = ?").join(" OR ") || "TRUE";
    // CROSS JOIN keeps the order of the loops: along the log, never stream by stream.
    const statement = prepareRows(
      db,
      `SELECT e.position, ${asJson} FROM events e CROSS JOIN streams s ON s.id = e.stream
       WHERE e.position > ? AND e.position <= ? AND e.revision >= s.first_revision AND (${narrowed})
       ORDER BY e.position LIMIT ${eventsPerPage}`,
    );
    statements.set(prefixes, statement);
    return statement;
  };

  return ({ after, prefixes }: LogRequest): LogPage => {
    const window = prefixes.length === 0 ? eventsPerPage : scannedPerPage;
    const further = nth(after, window - 1)?.position;
    const until = further ?? Math.max(after, newest().position ?? 0);
    const beginnings = prefixes.flatMap((prefix) => [[...prefix].length, prefix]);
    const { json, count, last, cut } = collect(statementFor(prefixes.length), [after, until, ...beginnings]);
    const whole = count < eventsPerPage && !cut;
    return { json, count, position: whole ? until : last, end: whole && further === undefined };
  };
};
