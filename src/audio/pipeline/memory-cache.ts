import { LRUCache } from "lru-cache";
import type { ObjectName } from "../store/audio-store.ts";

/** The most recently used objects, in the memory of this process. */
export interface MemoryCache {
  /** Shared, not copied: do not modify it. */
  get(name: ObjectName): Buffer | undefined;
  set(name: ObjectName, bytes: Buffer): void;
  stats(): { readonly objects: number; readonly bytes: number };
}

/** Memory of an entry in addition to its bytes: name, Buffer, list node. */
const entryBytes = 512;

/**
 * Limited in bytes (default 64 MiB; 0 disables it). An object larger than `largestShare` of the limit (default an
 * eighth) is not cached, because it would evict many others.
 */
export const createMemoryCache = ({
  maxBytes = 64 * 1024 * 1024,
  largestShare = 1 / 8,
}: {
  maxBytes?: number;
  largestShare?: number;
} = {}): MemoryCache => {
  const cache = new LRUCache<ObjectName, Buffer>({
    maxSize: Math.max(1, maxBytes), // 0 would mean no limit
    maxEntrySize: Math.max(1, Math.floor(maxBytes * largestShare)),
    sizeCalculation: (bytes) => bytes.length + entryBytes,
  });

  return {
    get: (name) => cache.get(name),
    set: (name, bytes) => {
      cache.set(name, withOwnMemory(bytes));
    },
    stats: () => ({ objects: cache.size, bytes: cache.calculatedSize }),
  };
};

/** A slice keeps its whole parent in memory, which the limit would not count. */
const withOwnMemory = (bytes: Buffer): Buffer => {
  if (bytes.buffer.byteLength === bytes.length) return bytes;
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
};
