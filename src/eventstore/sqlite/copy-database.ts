import { open, rm } from "node:fs/promises";
import { resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { openForReading, prepareGet } from "./database.ts";
import { openFile } from "./database-file.ts";

/**
 * Copies the database to a new file as of one moment, and syncs the copy. Other processes may write
 * meanwhile: their write-ahead log grows until the copy is complete. What was deleted is not
 * copied.
 * @throws {EventStoreUnavailable} if there is no such database
 * @throws if the new file exists, or the database cannot be read or copied
 */
export const copyDatabase = async (from: string, to: string): Promise<void> => {
  const { db, assertFileExists } = openForReading(await openFile(resolve(from), true));
  try {
    await (await open(to, "wx", 0o600)).close(); // SQLite would create it readable to others
    await copyInto(db, to);
    assertFileExists();
  } finally {
    db.close();
  }
};

const copyInto = async (db: DatabaseSync, to: string): Promise<void> => {
  try {
    // `query_only` would refuse the copy, although it changes nothing in this database.
    db.exec("PRAGMA query_only = OFF");
    db.prepare("VACUUM INTO ?").run(to);
    await using copy = await open(to, "r+");
    await copy.sync();
  } catch (error) {
    await rm(to, { force: true });
    throw error;
  }
};

/** Returns the position of the last event of a database that no process writes; -1 without any. */
export const lastPosition = async (path: string): Promise<number> => {
  const { db } = openForReading(await openFile(resolve(path), true));
  try {
    return prepareGet<{ position: number }>(db, "SELECT ifnull(max(position), -1) AS position FROM events")()
      .position;
  } finally {
    db.close();
  }
};
