import { lstat, open } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";

const busy = 5;

/**
 * Locks a file, which is created if it is missing and never removed. Returns undefined if another
 * process, or another caller in this one, has locked it. The lock is SQLite's, of an empty
 * database: the system releases it when the process ends, however it ends.
 * @throws if the file cannot be created or locked
 */
export const lockFile = async (path: string): Promise<Disposable | undefined> => {
  // An existing file is not opened: closing it would release a lock that this process holds.
  await open(path, "wx", 0o600).then(
    (file) => file.close(),
    async (error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
      if (!(await lstat(path)).isFile()) throw new Error(`${path} is not a file, or is a symbolic link`);
    },
  );
  const db = new DatabaseSync(path, { timeout: 0 });
  try {
    db.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    db.close();
    if ((error as { errcode?: number }).errcode === busy) return undefined;
    throw error;
  }
  return { [Symbol.dispose]: () => db.close() };
};
