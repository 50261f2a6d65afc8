import { randomUUID } from "node:crypto";
import { lstat, mkdir, open, opendir, unlink } from "node:fs/promises";
import { join } from "node:path";

/**
 * Where files are written before they have a name: on the same file system as the objects, so that a link can give
 * them one. Nothing here is ever read as an object.
 */
export interface TemporaryFiles {
  /**
   * Writes the bytes to a new file, makes them durable and hands over its path; the file is gone afterwards,
   * whatever became of it.
   */
  withFile<T>(bytes: Buffer, use: (file: string) => Promise<T>): Promise<T>;
}

/** No write takes so long: what is older was left by a process that was killed. */
const leftoverAgeMs = 60 * 60_000;
const ownFile = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.part$/;

/** Makes the folder where it is missing and sweeps what crashed writers left in it. */
export const openTemporaryFiles = async (folder: string): Promise<TemporaryFiles> => {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await sweep(folder);

  return {
    withFile: async (bytes, use) => {
      const file = join(folder, `${randomUUID()}.part`);
      try {
        await writeDurably(file, bytes);
        return await use(file);
      } finally {
        await unlink(file).catch(() => undefined); // a file left behind is swept at the next start
      }
    },
  };
};

const writeDurably = async (file: string, bytes: Buffer): Promise<void> => {
  const handle = await open(file, "wx", 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.datasync();
  } finally {
    await handle.close();
  }
};

/** Other processes may be writing here at this moment: only old files of our own making go. */
const sweep = async (folder: string): Promise<void> => {
  for await (const { name } of await opendir(folder)) {
    if (!ownFile.test(name)) continue;
    const file = join(folder, name);
    const left = await lstat(file).catch(() => undefined);
    if (left?.isFile() && Date.now() - left.mtimeMs > leftoverAgeMs)
      await unlink(file).catch(() => undefined);
  }
};
