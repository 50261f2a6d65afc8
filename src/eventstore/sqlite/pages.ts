import type { DatabaseSync } from "node:sqlite";
import { prepareFind, prepareGet } from "./database.ts";
import type { LogPage, LogRequest, ScanStrategy, StreamPage, StreamRequest } from "./protocol.ts";

/** Bounds of one page: what the main thread parses at one go, and what one request may hold the reader. */
const eventsPerPage = 2048;
const charactersPerPage = 1024 * 1024;
const scannedPerPage = 32_768;
/** Events that one query may join; with an event's greatest size this bounds its text. */
const eventsPerQuery = 128;

interface Joined {
  readonly count: number;
  readonly json: string | null;
}

/**
 * SQLite writes the events' JSON text and joins it, so that a page costs neither this thread nor the main thread a
 * value per column: it crosses as one string and is parsed once.
 */
const joined = (keyedEvents: string, order: "ASC" | "DESC"): string =>
  `SELECT count(*) AS count, group_concat(json) AS json FROM (${keyedEvents} ORDER BY key ${order})`;

const json = `concat('{"id":"', e.id, '",', e.body, ',"stream":', json_quote(s.name), ',"revision":', e.revision,
  ',"position":', e.position, ',"created":', e.created, '}') AS json`;

/** Gathers queries' results until they make a page. */
const gather = () => {
  const parts: string[] = [];
  let [count, characters] = [0, 0];
  return {
    add(found: Joined): void {
      if (found.json === null) return;
      parts.push(found.json);
      count += found.count;
      characters += found.json.length;
    },
    isFull: (): boolean => count >= eventsPerPage || characters >= charactersPerPage,
    page: () => ({ json: `[${parts.join(",")}]`, count }),
  };
};

/** Pages of one stream, either way. Its revisions are dense from the first one shown to the last. */
export const streamPages = (db: DatabaseSync) => {
  const extent = prepareFind<{ first: number; last: number | null }>(
    db,
    `SELECT first_revision AS first, (SELECT max(revision) FROM events WHERE stream = streams.id) AS last
     FROM streams WHERE name = ?`,
  );
  const between = (order: "ASC" | "DESC") =>
    prepareGet<Joined>(
      db,
      joined(
        `SELECT e.revision AS key, ${json} FROM streams s JOIN events e ON e.stream = s.id
         WHERE s.name = ? AND e.revision >= ? AND e.revision <= ?`,
        order,
      ),
    );
  const ascending = between("ASC");
  const descending = between("DESC");

  return ({ stream, from, limit, backwards }: StreamRequest): StreamPage => {
    const { first, last } = extent(stream) ?? { first: 0, last: null };
    const page = gather();
    const end = last ?? -1;
    let left = limit;
    let next = backwards ? Math.min(from, end) : Math.max(from, first);
    while (next >= first && next <= end && left > 0 && !page.isFull()) {
      const size = Math.min(left, eventsPerQuery);
      const [low, high] = backwards ? [Math.max(first, next - size + 1), next] : [next, next + size - 1];
      page.add(backwards ? descending(stream, low, high) : ascending(stream, low, high));
      next = backwards ? low - 1 : high + 1;
      left -= size;
    }
    return { ...page.page(), next, end: next < first || next > end };
  };
};

/** The event at a position, as JSON. */
export const eventAt = (db: DatabaseSync) => {
  const select = prepareFind<{ json: string }>(
    db,
    `SELECT ${json} FROM events e JOIN streams s ON s.id = e.stream
     WHERE e.position = ? AND e.revision >= s.first_revision`,
  );
  return (position: number): string | undefined => select(position)?.json;
};

/** Pages of the whole log, narrowed to streams whose names start so. */
export const logPages = (db: DatabaseSync) => {
  const nth = prepareFind<{ position: number }>(
    db,
    "SELECT position FROM events WHERE position > ? ORDER BY position LIMIT 1 OFFSET ?",
  );
  const newest = prepareGet<{ position: number | null }>(db, "SELECT max(position) AS position FROM events");
  const within = new Map<number, ReturnType<typeof narrowedTo>>();

  const narrowedTo = (prefixes: number) => {
    // A comparison of beginnings, not LIKE: a name's own % and _ mean themselves, and case counts.
    const condition =
      Array.from({ length: prefixes }, () => "substr(s.name, 1, ?) = ?").join(" OR ") || "TRUE";
    // CROSS JOIN keeps the order of the loops: along the log, never stream by stream.
    const events = `SELECT e.position AS key, ${json} FROM events e CROSS JOIN streams s ON s.id = e.stream
      WHERE e.position > ? AND e.position <= ? AND e.revision >= s.first_revision AND (${condition})`;
    const query = prepareGet<Joined>(db, joined(events, "ASC"));
    within.set(prefixes, query);
    return query;
  };

  const byIndex = indexedPages(db);

  return ({ after, prefixes, wait, strategy }: LogRequest): LogPage => {
    const head = newest().position ?? 0;
    const chosen: ScanStrategy = wait
      ? "log"
      : (strategy ?? (byIndex.isWorthIt(prefixes, head - after) ? "index" : "log"));
    if (chosen === "index") return { ...byIndex.page(prefixes, after, head), head, strategy: chosen };
    const query = within.get(prefixes.length) ?? narrowedTo(prefixes.length);
    const beginnings = prefixes.flatMap((prefix) => [[...prefix].length, prefix]);
    const page = gather();
    let [position, scanned, end] = [after, 0, false];
    while (!end && !page.isFull() && scanned < scannedPerPage) {
      const further = nth(position, eventsPerQuery - 1)?.position;
      const until = further ?? Math.max(position, head);
      page.add(query(position, until, ...beginnings));
      position = until;
      scanned += eventsPerQuery;
      end = further === undefined;
    }
    return { ...page.page(), position, head, strategy: chosen };
  };
};

/** Number of matching events above which a page costs more by the index than along the log. */
const indexedEvents = 20_000;
const logToIndex = 4;

/** Pages of the few streams whose names start so, without a look at other streams' events. */
const indexedPages = (db: DatabaseSync) => {
  // Names are compared as UTF-8: every name that begins with the prefix lies before the prefix with a byte FF behind it.
  const wanted = `FROM json_each(?) AS prefix CROSS JOIN streams s ON s.name >= prefix.value AND s.name < prefix.value || x'FF'
    CROSS JOIN events e ON e.stream = s.id`;
  const counted = prepareGet<{ count: number }>(
    db,
    `SELECT count(*) AS count FROM (SELECT 1 ${wanted} LIMIT ${indexedEvents})`,
  );
  const positions = prepareGet<{ json: string }>(
    db,
    `SELECT json_group_array(position) AS json FROM (SELECT DISTINCT e.position ${wanted}
     WHERE e.revision >= s.first_revision AND e.position > ? AND e.position <= ? ORDER BY e.position LIMIT ${eventsPerPage})`,
  );
  const events = prepareGet<Joined>(
    db,
    joined(
      `SELECT e.position AS key, ${json} FROM json_each(?) AS wanted
       CROSS JOIN events e ON e.position = wanted.value CROSS JOIN streams s ON s.id = e.stream`,
      "ASC",
    ),
  );

  return {
    isWorthIt: (prefixes: readonly string[], logEvents: number): boolean => {
      if (prefixes.length === 0 || logEvents < eventsPerPage) return false;
      const { count } = counted(JSON.stringify(prefixes));
      return count < indexedEvents && count * logToIndex < logEvents;
    },
    page: (prefixes: readonly string[], after: number, head: number) => {
      const found = JSON.parse(positions(JSON.stringify(prefixes), after, head).json) as number[];
      const page = gather();
      let taken = 0;
      while (taken < found.length && !page.isFull()) {
        page.add(events(JSON.stringify(found.slice(taken, taken + eventsPerQuery))));
        taken += eventsPerQuery;
      }
      const isLast = taken >= found.length && found.length < eventsPerPage;
      return {
        ...page.page(),
        position: isLast ? Math.max(after, head) : (found[taken - 1] ?? found.at(-1) ?? head),
      };
    },
  };
};
