import { LRUCache } from "lru-cache";
import { audioNamesOf } from "../../domain/synthesis/recipe.ts";
import type { EpochMs } from "../../domain/time.ts";
import type { AudioContent, AudioName } from "../store/audio-store.ts";

/**
 * The memory of an entry in addition to its bytes: its name, its Buffer and its node in the list.
 */
const entryBytes = 512;

export type MemoryCache = ReturnType<typeof createMemoryCache>;

/** Tells the store which objects are used, so that retention keeps them. */
export interface UseReports {
  /** The use of an object is reported at most once in this time, in milliseconds. */
  readonly intervalMs: number;
  readonly report: (name: AudioName) => void;
  readonly clock?: () => EpochMs;
}

interface Entry {
  readonly audio: AudioContent;
  reportAt: number;
}

/**
 * The most recently used objects, in the memory of this process.
 * Its size is limited in bytes (default: 64 MiB; 0 disables the cache). An object larger than
 * `largestShare` of the limit (default: an eighth) is not cached, because it would evict many
 * others.
 */
export const createMemoryCache = ({
  maxBytes = 64 * 1024 * 1024,
  largestShare = 1 / 8,
  uses,
}: {
  maxBytes?: number;
  largestShare?: number;
  uses?: UseReports | undefined;
} = {}) => {
  const clock = uses?.clock ?? Date.now;
  const cache = new LRUCache<AudioName, Entry>({
    maxSize: Math.max(1, maxBytes), // 0 would mean no limit
    maxEntrySize: Math.max(1, Math.floor(maxBytes * largestShare)),
    sizeCalculation: ({ audio: { bytes } }) => bytes.length + entryBytes,
  });

  /**
   * Objects that are not cached, and whose use was reported a moment ago: the store takes some time
   * until it returns the new time of use.
   */
  const reported = new LRUCache<AudioName, true>({ max: 1000, ttl: 60_000 });
  let forgotten = 0;

  const reportIfDue = (name: AudioName, entry: Entry): void => {
    if (!uses || clock() < entry.reportAt) return;
    entry.reportAt = clock() + uses.intervalMs;
    uses.report(name);
  };

  return {
    /** Returns the shared object, not a copy: do not modify it. */
    get: (name: AudioName): AudioContent | undefined => {
      const entry = cache.get(name);
      if (entry) reportIfDue(name, entry);
      return entry?.audio;
    },
    /**
     * `usedAt`: the time of use that the store has recorded. Default: now, because the object is
     * being stored.
     */
    set: (name: AudioName, { bytes, length }: AudioContent, usedAt = clock()): void => {
      const audio = { bytes: withOwnMemory(bytes), length };
      const entry = { audio, reportAt: usedAt + (uses?.intervalMs ?? 0) };
      cache.set(name, entry);
      // `get` never reports the use of a large object, which is not cached.
      reportIfDue(name, entry);
    },
    /** Reports the use of an object that is not cached. `usedAt`: as in `set`. */
    reportUse: (name: AudioName, usedAt: number): void => {
      if (!uses || clock() < usedAt + uses.intervalMs || reported.has(name)) return;
      reported.set(name, true);
      uses.report(name);
    },
    /** Removes everything under the hash. */
    forget: (hash: string): void => {
      forgotten++;
      for (const name of audioNamesOf(hash)) cache.delete(name);
    },
    /**
     * Returns the number of calls of `forget`: an object whose read began before the last call may
     * have been deleted.
     */
    forgotten: (): number => forgotten,
    stats: (): { readonly objects: number; readonly bytes: number } => ({
      objects: cache.size,
      bytes: cache.calculatedSize,
    }),
  };
};

/**
 * Copies a slice, because it would keep its whole parent in memory, which the limit does not count.
 */
const withOwnMemory = (bytes: Buffer): Buffer => {
  if (bytes.buffer.byteLength === bytes.length) return bytes;
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
};
