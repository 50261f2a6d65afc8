import { type BigIntStats, statSync } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { EventStoreUnavailable } from "../event-store.ts";

/** A database file, identified by its inode as of when the store was opened. */
export interface DatabaseFile {
  readonly path: string;
  readonly dev: bigint;
  readonly ino: bigint;
}

const findFile = (path: string): DatabaseFile => {
  const { dev, ino } = statSync(path, { bigint: true });
  return { path, dev, ino };
};

/**
 * Finds the file, or creates it unless `readOnly`: SQLite would create it readable to all. The
 * files beside it inherit its mode.
 * @throws {EventStoreUnavailable}
 */
export const openFile = async (path: string, readOnly: boolean): Promise<DatabaseFile> => {
  if (!readOnly) requireFileOfLog(path);
  try {
    if (!readOnly) {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await (await open(path, "a", 0o600)).close();
    }
    return findFile(path);
  } catch (cause) {
    // The system's own message contains the path.
    const { code } = cause as NodeJS.ErrnoException;
    const reason = code === "ENOENT" ? "no such file" : code;
    throw new EventStoreUnavailable(`the event store's file cannot be opened: ${reason}`, { cause });
  }
};

/** SQLite deletes a write-ahead log beside a new file, with the events that are only in it. */
const requireFileOfLog = (path: string): void => {
  const sizeOf = (file: string): bigint => statFile(file)?.size ?? 0n;
  // In this order: a process that creates a log writes to its file before it begins the other.
  if (sizeOf(`${path}-wal`) > 0n && sizeOf(path) === 0n)
    throw new EventStoreUnavailable(
      "the event store's file is missing, but its write-ahead log (-wal) has events: put the file back, or move the write-ahead log away",
    );
};

/** The file's URL with SQLite's URI parameters, such as a mode that never creates a file. */
export const fileUrl = ({ path }: DatabaseFile, parameters: Readonly<Record<string, string>>): URL => {
  const url = pathToFileURL(path);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url;
};

/** The code of the error that a lost file causes. */
export const fileLost = "FILE_LOST";

/**
 * Returns a check that throws once the file or its write-ahead log was removed or replaced, and
 * ever after. SQLite does not report this: writes to an unlinked file succeed, and are lost when
 * the process ends.
 */
export const watchFile = (file: DatabaseFile): (() => void) => {
  const walPath = `${file.path}-wal`;
  const wal = statFile(walPath);
  let isLost = false;
  return () => {
    isLost ||= !isSame(statFile(file.path), file) || (wal !== undefined && !isSame(statFile(walPath), wal));
    if (isLost) throw Object.assign(new Error("its file was removed or replaced"), { code: fileLost });
  };
};

const isSame = (found: BigIntStats | undefined, { dev, ino }: { dev: bigint; ino: bigint }): boolean =>
  found !== undefined && found.ino === ino && found.dev === dev;

const statFile = (path: string): BigIntStats | undefined => {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch (cause) {
    // The system's own message contains the path.
    throw new Error(`its file cannot be accessed: ${(cause as NodeJS.ErrnoException).code}`, { cause });
  }
};
