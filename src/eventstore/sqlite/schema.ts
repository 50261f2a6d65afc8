import { accessSync, constants, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { retryWhileBusy } from "./busy.ts";
import { type DatabaseFile, fileUrl, watchFile } from "./database-file.ts";

/** SQLite's own wait for a lock: short for the writer, which is patient in its own way, long enough for a reader. */
const writerWaitMs = 50;
const readerWaitMs = 5000;

/**
 * The last event of a stream always stays, so a stream's revision is that of its last row. Positions are never used
 * twice. `first_revision` is the first event still shown; rows before it wait to be deleted.
 */
const log = `
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

/** What a probe writes, to find out whether the disk takes it. */
const probe = "CREATE TABLE probe (id INTEGER PRIMARY KEY CHECK (id = 1), filler BLOB NOT NULL) STRICT;";

/** From each version of the schema to the next. */
const migrations = [log, probe];
const version = migrations.length;

/** A database that is open, and the check that its file still has its name. */
export interface OpenDatabase {
  readonly db: DatabaseSync;
  /** @throws for good once the file was removed or replaced. */
  readonly mustBeThere: () => void;
}

/** Opens the database for the writer: durable at every commit, with its tables. */
export const openForWriting = (file: DatabaseFile): OpenDatabase =>
  opened(file, writerWaitMs, (db) => {
    retryWhileBusy(() => refuseForeign(db));
    const { journal_mode: mode } = retryWhileBusy(() => db.prepare("PRAGMA journal_mode = WAL").get()) ?? {};
    if (mode !== "wal") throw new Error("the file system cannot share a write-ahead log");
    db.exec(
      "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864",
    );
    if (versionOf(db) !== version) migrate(db);
  });

/**
 * Opens a database that has its tables. Not read-only: after a crash elsewhere the first reader may have to
 * rebuild the WAL's index, which a read-only connection cannot.
 */
export const openForReading = (file: DatabaseFile): OpenDatabase =>
  opened(file, readerWaitMs, (db) => {
    db.exec("PRAGMA query_only = ON");
    refuseForeign(db);
    const found = versionOf(db);
    if (found === 0) throw new Error("the file holds no events");
    refuseNewer(found);
  });

const opened = (file: DatabaseFile, timeout: number, prepare: (db: DatabaseSync) => void): OpenDatabase => {
  const db = connect(file, timeout);
  try {
    prepare(db);
    const mustBeThere = watchFile(file);
    mustBeThere();
    return { db, mustBeThere };
  } catch (error) {
    db.close();
    throw error;
  }
};

/**
 * Never makes a missing file: who opened the store did, or meant the one that was there. What may not be written is read as
 * it is: when there is no write-ahead log, without the files beside it that SQLite would have to make.
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

/** The version is read again under the lock: several processes may be opening a new file. */
const migrate = (db: DatabaseSync): void => {
  retryWhileBusy(() => db.exec("BEGIN IMMEDIATE"));
  const found = versionOf(db);
  refuseNewer(found);
  db.exec(`${migrations.slice(found).join("")} PRAGMA user_version = ${version}`);
  db.exec("COMMIT");
};

const versionOf = (db: DatabaseSync): number => Number(db.prepare("PRAGMA user_version").get()?.user_version);

const refuseNewer = (found: number): void => {
  if (found > version) {
    throw new Error(`the database has schema ${found}, newer than ${version} which this release knows`);
  }
};

/** Ours are there from the first version on, and none before; read at one moment, as another process may be making them. */
const tables = `
  SELECT (SELECT user_version FROM pragma_user_version) AS found, count(*) AS held,
    count(*) FILTER (WHERE name IN ('streams', 'events')) AS ours
  FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'
`;

/** Before anything is changed. */
const refuseForeign = (db: DatabaseSync): void => {
  const { found, held, ours } = db.prepare(tables).get() as Record<"found" | "held" | "ours", number>;
  if (found > version) return; // told otherwise
  if (found === 0 ? held > 0 : ours < 2) throw new Error("the file is another program's database");
};
