import { type BigIntStats, statSync } from "node:fs";
import { pathToFileURL } from "node:url";

/** A database's file as it was found when the store was opened. */
export interface DatabaseFile {
  readonly path: string;
  readonly dev: bigint;
  readonly ino: bigint;
}

/** @throws when there is no file. */
export const findFile = (path: string): DatabaseFile => {
  const { dev, ino } = statSync(path, { bigint: true });
  return { path, dev, ino };
};

/** Where SQLite opens the file with these URI parameters, such as a mode that never makes a missing one. */
export const fileUrl = ({ path }: DatabaseFile, parameters: Readonly<Record<string, string>>): URL => {
  const url = pathToFileURL(path);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url;
};

/**
 * Answers a check, which throws for good once the file, or the write-ahead log beside it, has been removed or replaced: an
 * unlinked file goes on taking writes that end with the process, and SQLite says nothing of it.
 */
export const watchFile = (file: DatabaseFile): (() => void) => {
  const walPath = `${file.path}-wal`;
  const wal = look(walPath);
  let lost = false;
  return () => {
    lost ||= !same(look(file.path), file) || (wal !== undefined && !same(look(walPath), wal));
    if (lost) throw new Error("its file was removed or replaced");
  };
};

const same = (found: BigIntStats | undefined, { dev, ino }: { dev: bigint; ino: bigint }): boolean =>
  found !== undefined && found.ino === ino && found.dev === dev;

const look = (path: string): BigIntStats | undefined => {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch (cause) {
    // The system's own message would tell the path.
    throw new Error(`its file cannot be looked at: ${(cause as NodeJS.ErrnoException).code}`, { cause });
  }
};
