import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { AudioFolder } from "../../../domain/synthesis/recipe.ts";
import type { EpochMs } from "../../../domain/time.ts";

interface ListedFile {
  readonly name: string;
  readonly bytes: number;
  /** The modification time of the file. */
  readonly usedAt: EpochMs;
}

const shardName = /^[0-9a-f]{2}$/;
/** Stats take at most this many of the four threads that Node has for files. */
const statsAtOnce = 2;

/**
 * Lists all files in the shards of the folders, in the order of their names. Keeps one directory at
 * a time in memory.
 */
export async function* listFiles(
  root: string,
  folders: readonly AudioFolder[],
  signal: AbortSignal,
): AsyncGenerator<ListedFile, void> {
  for (const prefix of folders) {
    for (const first of await shardsIn(join(root, prefix))) {
      for (const second of await shardsIn(join(root, prefix, first))) {
        signal.throwIfAborted();
        yield* filesIn(join(root, prefix, first, second), prefix, signal);
      }
    }
  }
}

async function* filesIn(
  directory: string,
  prefix: string,
  signal: AbortSignal,
): AsyncGenerator<ListedFile, void> {
  const files = (await entriesIn(directory)).sort();
  for (let at = 0; at < files.length; at += statsAtOnce) {
    signal.throwIfAborted();
    const some = files.slice(at, at + statsAtOnce);
    const listed = await Promise.all(some.map((file) => listFile(directory, prefix, file)));
    for (const file of listed) if (file) yield file;
  }
}

/** Returns undefined if the file was removed meanwhile. */
const listFile = async (directory: string, prefix: string, file: string): Promise<ListedFile | undefined> => {
  const found = await orIfMissing(stat(join(directory, file)), undefined);
  return found?.isFile()
    ? { name: `${prefix}/${file}`, bytes: found.size, usedAt: found.mtimeMs }
    : undefined;
};

const shardsIn = async (directory: string): Promise<string[]> =>
  (await entriesIn(directory)).filter((name) => shardName.test(name)).sort();

export const entriesIn = (directory: string): Promise<string[]> => orIfMissing(readdir(directory), []);

export const orIfMissing = <T, U>(found: Promise<T>, other: U): Promise<T | U> =>
  found.catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return other;
    throw error;
  });
