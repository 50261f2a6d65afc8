import { accessSync, constants, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { type DatabaseFile, fileUrl, watchFile } from "./database-file.ts";

/** SQLite's own wait for a lock. It is short for the writer, which uses `retryWhileBusy`. */
const busyTimeoutMs = { writer: 50, reader: 5_000 };

/**
 * A stream's revision is that of its last row: retention never deletes a stream's last event, and a
 * deleted stream begins anew. Positions are never reused. Events before `first_revision` are hidden
 * and wait to be deleted.
 */
const createLog = `
  CREATE TABLE streams (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    first_revision INTEGER NOT NULL DEFAULT 0,
    max_count INTEGER,
    max_age_seconds REAL
  ) STRICT;
  CREATE TABLE events (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    stream INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    id TEXT NOT NULL,
    created INTEGER NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX events_by_id ON events (id);
  CREATE UNIQUE INDEX events_by_stream ON events (stream, revision);
`;

/** A readiness check writes to this table, to prove that the disk accepts writes. */
const createProbe =
  "CREATE TABLE probe (id INTEGER PRIMARY KEY CHECK (id = 1), filler BLOB NOT NULL) STRICT;";

/**
 * Each migration raises the schema by one version. Its text is stored in every database: never
 * change it.
 */
const migrations = [createLog, createProbe];
const currentVersion = migrations.length;

/**
 * Opens the database for the writer: creates or migrates its tables, and makes every commit
 * durable.
 */
export const openForWriting = (file: DatabaseFile) =>
  open(file, busyTimeoutMs.writer, (db) => {
    whileOpening(() => assertOwnDatabase(db));
    const { journal_mode: mode } = whileOpening(() => db.prepare("PRAGMA journal_mode = WAL").get()) ?? {};
    if (mode !== "wal") throw new Error("the file system does not support a shared write-ahead log");
    db.exec(
      "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864; PRAGMA secure_delete = FAST",
    );
    if (whileOpening(() => versionOf(db)) !== currentVersion) migrate(db);
    whileOpening(() => assertUnalteredSchema(db));
  });

/**
 * Opens an existing database for the reader. The connection is not read-only: after another
 * process's crash the first reader may have to rebuild the WAL index.
 */
export const openForReading = (file: DatabaseFile) =>
  open(file, busyTimeoutMs.reader, (db) => {
    db.exec("PRAGMA query_only = ON");
    assertOwnDatabase(db);
    const version = versionOf(db);
    if (version === 0) throw new Error("the file holds no events");
    assertKnownVersion(version);
    assertUnalteredSchema(db);
  });

const open = (file: DatabaseFile, timeout: number, prepare: (db: DatabaseSync) => void) => {
  const db = connect(file, timeout);
  try {
    prepare(db);
    /** @throws from the moment the file is removed or replaced */
    const assertFileExists = watchFile(file);
    assertFileExists();
    return { db, assertFileExists };
  } catch (error) {
    db.close();
    throw error;
  }
};

/**
 * Connects to the existing file that `openFile` has found or created. A file that cannot be written
 * is opened read-only. If it has no write-ahead log, it is also opened as immutable, so that SQLite
 * creates no files beside it.
 */
const connect = (file: DatabaseFile, timeout: number): DatabaseSync => {
  if (isWritable(file.path) && isWritable(dirname(file.path))) {
    return new DatabaseSync(fileUrl(file, { mode: "rw" }), { timeout });
  }
  const wal = statSync(`${file.path}-wal`, { throwIfNoEntry: false });
  const parameters: Record<string, string> = wal?.size ? { mode: "ro" } : { mode: "ro", immutable: "1" };
  return new DatabaseSync(fileUrl(file, parameters), { timeout, readOnly: true });
};

const isWritable = (path: string): boolean => {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
};

/**
 * Reads the version again under the lock, because several processes may open a new file at the same
 * time.
 */
const migrate = (db: DatabaseSync): void => {
  whileOpening(() => db.exec("BEGIN IMMEDIATE"));
  const version = versionOf(db);
  assertKnownVersion(version);
  db.exec(`${migrations.slice(version).join("")} PRAGMA user_version = ${currentVersion}`);
  db.exec("COMMIT");
};

const versionOf = (db: DatabaseSync): number => Number(db.prepare("PRAGMA user_version").get()?.user_version);

const assertKnownVersion = (version: number): void => {
  if (version > currentVersion) {
    throw new Error(
      `the database has schema version ${version}, newer than this release's ${currentVersion}`,
    );
  }
};

/** It is one statement, because another process may be creating the tables. */
const countTables = `
  SELECT (SELECT user_version FROM pragma_user_version) AS version, count(*) AS total,
    count(*) FILTER (WHERE name IN ('streams', 'events')) AS own
  FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'
`;

/**
 * Refuses another program's database, before anything is changed. A database of any version has the
 * two tables, and a new file has no table.
 */
const assertOwnDatabase = (db: DatabaseSync): void => {
  const { version, total, own } = db.prepare(countTables).get() as Record<
    "version" | "total" | "own",
    number
  >;
  if (version > currentVersion) return; // `assertKnownVersion` reports it.
  if (version === 0 ? total > 0 : own < 2) throw new Error("the file is another program's database");
};

/**
 * Reads the whole database and returns the first damage: an index that differs from its table, a
 * value of another type than its column's, a broken page, or a row that reads by stream and reads
 * by position show differently.
 */
export const findDamage = (db: DatabaseSync): string | undefined => {
  const { found } = prepareGet<{ found: number }>(
    db,
    `SELECT EXISTS (SELECT 1 FROM events WHERE position < 1)
       OR EXISTS (SELECT 1 FROM streams WHERE typeof(first_revision) <> 'integer' OR first_revision < 0) AS found`,
  )();
  if (found) return "a position or a first revision is not a natural number";
  const { integrity_check: result } = prepareGet<{ integrity_check: string }>(
    db,
    "PRAGMA integrity_check(1)",
  )();
  return result === "ok" ? undefined : result.trim().replaceAll("\n", "; ");
};

interface SchemaObject {
  readonly name: string;
  readonly definition: string;
}

/**
 * Reads the schema of this service's tables, and every trigger. Other tables, such as those of a
 * replication tool, do not count.
 */
const schemaOf = (db: DatabaseSync): SchemaObject[] =>
  db
    .prepare(
      `SELECT type || ' ' || name AS name, ifnull(sql, '') AS definition FROM sqlite_schema
       WHERE type = 'trigger' OR tbl_name IN ('streams', 'events', 'probe')
       UNION ALL SELECT 'encoding', encoding FROM pragma_encoding ORDER BY name`,
    )
    .all() as unknown as SchemaObject[];

/**
 * An altered table, a view in its place, or a trigger could show other events than those that were
 * appended.
 * @throws unless the schema is that of its version
 */
const assertUnalteredSchema = (db: DatabaseSync): void => {
  const reference = new DatabaseSync(":memory:");
  reference.exec(migrations.slice(0, versionOf(db)).join(""));
  const expected = new Map(schemaOf(reference).map(({ name, definition }) => [name, definition]));
  reference.close();
  const found = schemaOf(db);
  const altered =
    found.find(({ name, definition }) => expected.get(name) !== definition)?.name ??
    expected.keys().find((name) => !found.some((one) => one.name === name));
  if (altered === undefined) return;
  throw new Error(`the schema of the database was altered by another program: ${altered}`);
};

const SQLITE_BUSY = 5;
/**
 * This is less than a command's deadline, so that a lock held for longer is reported as the cause.
 */
const maxBusyMs = 3_000;
/**
 * Opening may wait longer: its failure ends the process, and other processes may be starting, too.
 */
const maxBusyMsOfOpening = 20_000;
const busyDelayMs = 1;
const neverNotified = new Int32Array(new SharedArrayBuffer(4));

/**
 * Repeats a statement while another process holds the lock, for a bounded time; blocks the thread.
 * SQLite's own wait is not used, because its delays grow with each attempt: a writer would lose
 * every race against a busy process.
 */
export const retryWhileBusy = <T>(statement: () => T, timeoutMs = maxBusyMs): T => {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return statement();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
      Atomics.wait(neverNotified, 0, 0, busyDelayMs);
    }
  }
};

const whileOpening = <T>(statement: () => T): T => retryWhileBusy(statement, maxBusyMsOfOpening);

/**
 * Copies the write-ahead log into the database file, and truncates it. A reader that holds an
 * earlier state for longer than the wait keeps it: the next checkpoint then overwrites it.
 */
export const emptyWriteAheadLog = (db: DatabaseSync): void => {
  const checkpoint = prepareGet<{ busy: number }>(db, "PRAGMA wal_checkpoint(TRUNCATE)");
  const deadline = performance.now() + maxBusyMs;
  while (checkpoint().busy !== 0 && performance.now() < deadline)
    Atomics.wait(neverNotified, 0, 0, busyDelayMs);
};

const isBusy = (error: unknown): boolean =>
  (((error as { errcode?: number }).errcode ?? 0) & 0xff) === SQLITE_BUSY;

/** Prepares a query that finds one row or none. */
export const prepareFind = <Row>(db: DatabaseSync, sql: string) => {
  const statement = db.prepare(sql);
  return (...values: SQLInputValue[]): Row | undefined => statement.get(...values) as Row | undefined;
};

/** Prepares a query that always finds a row, such as an aggregate. */
export const prepareGet = <Row>(db: DatabaseSync, sql: string) => {
  const statement = db.prepare(sql);
  return (...values: SQLInputValue[]): Row => statement.get(...values) as unknown as Row;
};
