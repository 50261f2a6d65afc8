import { mkdir, open } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { audioFolders } from "../../../domain/synthesis/recipe.ts";
import type { AudioName } from "../audio-store.ts";

/**
 * Returns the path of an object. The first digits of the hash name two levels of directories:
 * `public/ab/cd/abcd….mp3`.
 */
export const shardedPath = (root: string, name: AudioName): string => {
  const [prefix = "", file = ""] = name.split("/");
  return join(root, prefix, file.slice(0, 2), file.slice(2, 4), file);
};

/** The directories in which objects of a hash may be, by folder. */
export const shardDirectories = (
  root: string,
  hash: string,
): (readonly [folder: string, directory: string])[] =>
  audioFolders.map((folder) => [folder, join(root, folder, hash.slice(0, 2), hash.slice(2, 4))]);

export type Shards = ReturnType<typeof createShards>;

/** The number of directories between the root and an object, as in `public/ab/cd`. */
const depth = 3;

/**
 * Creates directories when they are first needed. `public` and `private` can have 131,072 of them,
 * which would take half a gigabyte of ext4 blocks and seconds of the first start.
 */
export const createShards = () => {
  /** The directories that exist, by their paths below the root: at most 131,586. */
  const made = new Map<string, Promise<void>>();

  /** `levels`: how many levels the directory is below the root. */
  const ensure = (directory: string, levels: number): Promise<void> => {
    const key = keyOf(directory, levels);
    const known = made.get(key);
    if (known !== undefined) return known;
    const making = makeDurably(directory, levels);
    made.set(key, making);
    making.catch(() => made.delete(key));
    return making;
  };

  /** Syncs the parent even if the directory exists: its creator may not have done so yet. */
  const makeDurably = async (directory: string, levels: number): Promise<void> => {
    const parent = dirname(directory);
    if (levels > 1) await ensure(parent, levels - 1);
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await syncDirectory(parent);
  };

  return {
    /** Creates the directory if it is missing; resolves when it would survive a power failure. */
    ensure: (shard: string): Promise<void> => ensure(shard, depth),
    /**
     * Called when the directory is gone, perhaps with those above it: the next `ensure` creates
     * them again.
     */
    forget: (shard: string): void => {
      let directory = shard;
      for (let levels = depth; levels > 0; levels--) {
        made.delete(keyOf(directory, levels));
        directory = dirname(directory);
      }
    },
  };
};

const keyOf = (directory: string, levels: number): string => directory.split(sep).slice(-levels).join("/");

/** Makes the directory's entries (not the files' contents) survive a power failure. */
export const syncDirectory = async (directory: string): Promise<void> => {
  await using handle = await open(directory, "r");
  await handle.sync();
};
