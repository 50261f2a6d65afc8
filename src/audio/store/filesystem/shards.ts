import { mkdir, open } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { audioFolders } from "../../../domain/synthesis/recipe.ts";
import type { AudioName } from "../audio-store.ts";

/** Two levels of directories by the first digits of the hash: `public/ab/cd/abcd….mp3`. */
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

/**
 * Creates directories when they are first needed: both folders together would be 131,072, half a
 * gigabyte of ext4 blocks and seconds of the first start.
 */
export const createShards = () => {
  /** The set has at most 131,072 short strings. */
  const ready = new Set<string>();
  const pending = new Map<string, Promise<void>>();

  const make = async (shard: string): Promise<void> => {
    try {
      await makeDurably(shard);
      ready.add(prefixOf(shard));
    } finally {
      pending.delete(shard);
    }
  };

  return {
    /** Creates the directory if it is missing; resolves when it would survive a power failure. */
    ensure: async (shard: string): Promise<void> => {
      if (ready.has(prefixOf(shard))) return;
      const made = pending.get(shard) ?? make(shard);
      pending.set(shard, made);
      await made;
    },
    /** The directory is gone: the next `ensure` creates it again. */
    forget: (shard: string): void => {
      ready.delete(prefixOf(shard));
    },
  };
};

/** `public/ab/cd` */
const prefixOf = (shard: string): string => shard.split(sep).slice(-3).join("/");

/** Makes the directory's entries (not the files' contents) survive a power failure. */
export const syncDirectory = async (directory: string): Promise<void> => {
  await using handle = await open(directory, "r");
  await handle.sync();
};

/** Syncs the parents even if the shard exists: its creator may not have done so yet. */
const makeDurably = async (shard: string): Promise<void> => {
  await mkdir(shard, { recursive: true, mode: 0o700 });
  const level = dirname(shard);
  const prefix = dirname(level);
  for (const directory of [level, prefix, dirname(prefix)]) await syncDirectory(directory);
};
