import { mkdir, open } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import type { ObjectName } from "../audio-store.ts";

/** Two levels of folders by the first digits of the hash: `audio/ab/cd/abcd….mp3`. */
export const shardedPath = (root: string, name: ObjectName): string => {
  const [prefix = "", file = ""] = name.split("/");
  return join(root, prefix, file.slice(0, 2), file.slice(2, 4), file);
};

export interface Shards {
  /** Makes the folder where it is missing; done when it would survive a power failure. */
  ensure(shard: string): Promise<void>;
  /** Somebody removed it: the next `ensure` makes it anew. */
  forget(shard: string): void;
}

/**
 * Folders are made when they are first needed: two full levels for both prefixes would be 131,072 folders, half a
 * gigabyte of ext4 blocks and seconds of the first start, to save one `mkdir` a shard.
 */
export const createShards = (): Shards => {
  /** Up to 131,072 short strings, without promises and the root's path. */
  const ready = new Set<string>();
  const making = new Map<string, Promise<void>>();

  const make = async (shard: string): Promise<void> => {
    try {
      await makeDurably(shard);
      ready.add(prefixOf(shard));
    } finally {
      making.delete(shard);
    }
  };

  return {
    ensure: async (shard) => {
      if (ready.has(prefixOf(shard))) return;
      const made = making.get(shard) ?? make(shard);
      making.set(shard, made);
      await made;
    },
    forget: (shard) => {
      ready.delete(prefixOf(shard));
    },
  };
};

/** `audio/ab/cd` */
const prefixOf = (shard: string): string => shard.split(sep).slice(-3).join("/");

/** Makes the folder's entries (not the files' contents) survive a power failure. */
export const syncDirectory = async (folder: string): Promise<void> => {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** The parents are synced even when the shard was there: whoever made it may not have come so far yet. */
const makeDurably = async (shard: string): Promise<void> => {
  await mkdir(shard, { recursive: true, mode: 0o700 });
  const level = dirname(shard);
  const prefix = dirname(level);
  for (const folder of [level, prefix, dirname(prefix)]) await syncDirectory(folder);
};
