import { randomUUID } from "node:crypto";
import { lstat, mkdir, open, opendir, unlink } from "node:fs/promises";
import { join } from "node:path";

/** Files that are older were left by a killed process: no write takes this long. */
const leftoverAgeMs = 60 * 60_000;
const ownFile = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.part$/;

/**
 * Opens the directory in which files are written before they become objects. It is on the same file
 * system as the objects, so that files can be linked. Its files are never read as objects. Creates
 * the directory if it is missing, and removes files that crashed writers left.
 */
export const openTemporaryFiles = async (directory: string) => {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await sweep(directory);

  return {
    /**
     * Writes the bytes durably to a new file and passes its path to `use`. The file is removed in
     * every case.
     */
    withFile: async <T>(bytes: readonly Buffer[], use: (file: string) => Promise<T>): Promise<T> => {
      const file = join(directory, `${randomUUID()}.part`);
      try {
        await writeDurably(file, bytes);
        return await use(file);
      } finally {
        await unlink(file).catch(() => undefined); // a later start removes it
      }
    },
  };
};

const writeDurably = async (file: string, bytes: readonly Buffer[]): Promise<void> => {
  await using handle = await open(file, "wx", 0o600);
  for (const part of bytes) await handle.writeFile(part); // continues after the last part
  await handle.datasync();
};

/** Removes only old files with the service's names: other processes may be writing. */
const sweep = async (directory: string): Promise<void> => {
  for await (const { name } of await opendir(directory)) {
    if (!ownFile.test(name)) continue;
    const file = join(directory, name);
    const left = await lstat(file).catch(() => undefined);
    if (left?.isFile() && Date.now() - left.mtimeMs > leftoverAgeMs)
      await unlink(file).catch(() => undefined);
  }
};
