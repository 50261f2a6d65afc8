import type { DatabaseSync } from "node:sqlite";
import type { Selection } from "../subscriptions.ts";
import { prepareFind, prepareGet } from "./database.ts";
import type { LogPage, LogRequest, ScanStrategy, StreamPage, StreamRequest } from "./protocol.ts";

/**
 * A page's limits bound how long the main thread parses, and how long one request occupies the
 * reader.
 */
const maxEventsPerPage = 2048;
const maxCharactersPerPage = 1024 * 1024;
const maxScannedPerPage = 32_768;
/** Together with the maximum size of an event, this bounds the text of one query. */
const maxEventsPerQuery = 128;

interface JoinedEvents {
  readonly count: number;
  readonly json: string | null;
}

/**
 * SQLite writes and joins the events' JSON. So a page is one string, and neither thread handles a
 * value per column.
 */
const joinJson = (keyedEvents: string): string =>
  `SELECT count(*) AS count, group_concat(json) AS json FROM (${keyedEvents} ORDER BY key)`;

/**
 * Writes one row as the JSON of exactly one event, even if another program has written the row. Id,
 * stream, revision, position and time are those of the row's columns. If the body is not the
 * members of one JSON object, the event has no data.
 */
const json = `CASE WHEN typeof(e.body) = 'text' AND typeof(e.id) = 'text' AND typeof(s.name) = 'text'
    AND typeof(e.revision) = 'integer' AND typeof(e.created) = 'integer'
    AND e.body GLOB '"type":*' AND json_valid(concat('{', e.body, '}'))
  THEN concat('{', e.body, ',"id":', json_quote(e.id), ',"stream":', json_quote(s.name), ',"revision":', e.revision,
    ',"position":', e.position, ',"created":', e.created, '}')
  ELSE concat('{"type":"","data":null,"metadata":{},"id":', json_quote(ifnull(CAST(e.id AS TEXT), '')),
    ',"stream":', json_quote(ifnull(CAST(s.name AS TEXT), '')), ',"revision":', ifnull(CAST(e.revision AS INTEGER), -1),
    ',"position":', e.position, ',"created":', ifnull(CAST(e.created AS INTEGER), 0), '}')
  END AS json`;

const createPage = () => {
  const parts: string[] = [];
  let [count, characters] = [0, 0];
  return {
    add(found: JoinedEvents): void {
      if (found.json === null) return;
      parts.push(found.json);
      count += found.count;
      characters += found.json.length;
    },
    isFull: (): boolean => count >= maxEventsPerPage || characters >= maxCharactersPerPage,
    toJson: () => ({ json: `[${parts.join(",")}]`, count }),
  };
};

/**
 * Reads pages of one stream. The stream's visible revisions have no gaps, unless another program
 * has removed events. A page continues after such a gap, however large it is.
 */
export const streamPages = (db: DatabaseSync) => {
  const extent = prepareFind<{ first: number; last: number | null }>(
    db,
    `SELECT first_revision AS first, (SELECT max(revision) FROM events WHERE stream = streams.id) AS last
     FROM streams WHERE name = ?`,
  );
  const between = (order: "ASC" | "DESC") =>
    prepareGet<JoinedEvents & { readonly last: number | null }>(
      db,
      `SELECT count(*) AS count, group_concat(json) AS json, ${order === "ASC" ? "max" : "min"}(key) AS last FROM (
         SELECT e.revision AS key, ${json} FROM streams s JOIN events e ON e.stream = s.id
         WHERE s.name = ? AND e.revision >= ? AND e.revision <= ? ORDER BY key ${order} LIMIT ?)`,
    );
  const ascending = between("ASC");
  const descending = between("DESC");

  return ({ stream, fromInclusive, limit, backwards }: StreamRequest): StreamPage => {
    const { first, last } = extent(stream) ?? { first: 0, last: null };
    const end = last ?? -1;
    if (![first, end].every(Number.isSafeInteger)) throw new Error(`the revisions of ${stream} are damaged`);
    const page = createPage();
    let remaining = limit;
    let next = backwards ? Math.min(fromInclusive, end) : Math.max(fromInclusive, first);
    while (next >= first && next <= end && remaining > 0 && !page.isFull()) {
      const size = Math.min(remaining, maxEventsPerQuery);
      const found = backwards ? descending(stream, first, next, size) : ascending(stream, next, end, size);
      page.add(found);
      if (found.last === null) next = backwards ? -1 : end + 1;
      else next = backwards ? found.last - 1 : found.last + 1;
      remaining -= found.count;
    }
    return { ...page.toJson(), next, end: next < first || next > end };
  };
};

/** Reads the visible event at a position, as JSON. */
export const eventAt = (db: DatabaseSync) => {
  const select = prepareFind<{ json: string }>(
    db,
    `SELECT ${json} FROM events e JOIN streams s ON s.id = e.stream
     WHERE e.position = ? AND e.revision >= s.first_revision`,
  );
  return (position: number): string | undefined => select(position)?.json;
};

/** The streams that have events after a position. */
export interface NewEvents {
  readonly streams: readonly string[];
  /** The position of the last new event; 0 if there is none. */
  readonly head: number;
}

/**
 * Reads the streams of the events after a position; undefined if there are too many events for one
 * query.
 */
export const streamsAfter = (db: DatabaseSync) => {
  const query = prepareGet<{ head: number; names: string }>(
    db,
    `SELECT ifnull(max(last), 0) AS head, json_group_array(name) AS names FROM (SELECT s.name AS name, max(e.position) AS last
     FROM events e CROSS JOIN streams s ON s.id = e.stream WHERE e.position > ? AND e.position <= ? GROUP BY e.stream)`,
  );
  const newest = newestPosition(db);
  return (fromExclusive: number): NewEvents | undefined => {
    if (newest() > fromExclusive + maxEventsPerPage) return undefined;
    const { head, names } = query(fromExclusive, fromExclusive + maxEventsPerPage);
    return { streams: JSON.parse(names), head };
  };
};

const newestPosition = (db: DatabaseSync): (() => number) => {
  const newest = prepareGet<{ position: number | null }>(db, "SELECT max(position) AS position FROM events");
  return () => newest().position ?? 0;
};

/** Reads pages of the log, of the streams whose names start with one of the prefixes. */
export const logPages = (db: DatabaseSync) => {
  const newest = newestPosition(db);
  const byIndex = indexScan(db);
  const byLog = logScan(db);

  return ({ fromExclusive, prefixes, except, wait, strategy }: LogRequest): LogPage => {
    const head = newest();
    const chooseStrategy = (): ScanStrategy =>
      byIndex.isFaster(prefixes, head - fromExclusive) ? "index" : "log";
    const chosen = wait ? "log" : (strategy ?? chooseStrategy());
    const scan = chosen === "index" ? byIndex.read : byLog;
    return { ...scan({ prefixes, except }, fromExclusive, head), head, strategy: chosen };
  };
};

/** Scans the log and leaves out the events of other streams. */
const logScan = (db: DatabaseSync) => {
  const nth = prepareFind<{ position: number }>(
    db,
    "SELECT position FROM events WHERE position > ? ORDER BY position LIMIT 1 OFFSET ?",
  );
  /** There is one query for each number of prefixes. */
  const queries = new Map<number, ReturnType<typeof prepareQuery>>();

  const prepareQuery = (prefixCount: number) => {
    // LIKE would ignore case and give % and _ a meaning.
    const condition =
      Array.from({ length: prefixCount }, () => "substr(s.name, 1, ?) = ?").join(" OR ") || "TRUE";
    // CROSS JOIN keeps the order of the loops: by position, not by stream.
    const events = `SELECT e.position AS key, ${json} FROM events e CROSS JOIN streams s ON s.id = e.stream
      WHERE e.position > ? AND e.position <= ? AND e.revision >= s.first_revision AND s.name IS NOT ? AND (${condition})`;
    const query = prepareGet<JoinedEvents>(db, joinJson(events));
    queries.set(prefixCount, query);
    return query;
  };

  return ({ prefixes, except }: Selection, fromExclusive: number, head: number) => {
    const query = queries.get(prefixes.length) ?? prepareQuery(prefixes.length);
    const parameters = [except ?? null, ...prefixes.flatMap((prefix) => [[...prefix].length, prefix])];
    const page = createPage();
    let [position, scanned, isAtEnd] = [fromExclusive, 0, false];
    while (!isAtEnd && !page.isFull() && scanned < maxScannedPerPage) {
      const further = nth(position, maxEventsPerQuery - 1)?.position;
      const end = further ?? Math.max(position, head);
      page.add(query(position, end, ...parameters));
      position = end;
      scanned += maxEventsPerQuery;
      isAtEnd = further === undefined;
    }
    return { ...page.toJson(), position };
  };
};

/** Above this number of matching events, a page costs more by the index than by the log. */
const maxIndexedEvents = 20_000;
const minLogToIndexRatio = 4;

/**
 * Reads the matching streams by the index of streams, without reading the events of other streams.
 */
const indexScan = (db: DatabaseSync) => {
  // Names are compared as UTF-8, in which no byte is FF: every name with the prefix is less than
  // the prefix followed by FF.
  const matching = `FROM json_each(?) AS prefix CROSS JOIN streams s ON s.name >= prefix.value AND s.name < prefix.value || x'FF'
    CROSS JOIN events e ON e.stream = s.id`;
  const countMatching = prepareGet<{ count: number }>(
    db,
    `SELECT count(*) AS count FROM (SELECT 1 ${matching} LIMIT ${maxIndexedEvents})`,
  );
  const findPositions = prepareGet<{ json: string }>(
    db,
    `SELECT json_group_array(position) AS json FROM (SELECT DISTINCT e.position ${matching}
     WHERE e.revision >= s.first_revision AND s.name IS NOT ? AND e.position > ? AND e.position <= ? ORDER BY e.position LIMIT ${maxEventsPerPage})`,
  );
  const readAt = prepareGet<JoinedEvents>(
    db,
    joinJson(
      `SELECT e.position AS key, ${json} FROM json_each(?) AS wanted
       CROSS JOIN events e ON e.position = wanted.value CROSS JOIN streams s ON s.id = e.stream`,
    ),
  );

  return {
    isFaster: (prefixes: readonly string[], logEvents: number): boolean => {
      if (prefixes.length === 0 || logEvents < maxEventsPerPage) return false;
      const { count } = countMatching(JSON.stringify(prefixes));
      return count < maxIndexedEvents && count * minLogToIndexRatio < logEvents;
    },
    read: ({ prefixes, except }: Selection, fromExclusive: number, head: number) => {
      const found = findPositions(JSON.stringify(prefixes), except ?? null, fromExclusive, head);
      const positions = JSON.parse(found.json) as number[];
      const page = createPage();
      let read = 0;
      while (read < positions.length && !page.isFull()) {
        page.add(readAt(JSON.stringify(positions.slice(read, read + maxEventsPerQuery))));
        read += maxEventsPerQuery;
      }
      const isLast = read >= positions.length && positions.length < maxEventsPerPage;
      const position = isLast
        ? Math.max(fromExclusive, head)
        : (positions[read - 1] ?? positions.at(-1) ?? head);
      return { ...page.toJson(), position };
    },
  };
};
