import { LRUCache } from "lru-cache";
import type { ObjectName } from "../store/audio-store.ts";

/** The objects that were asked for last, in the memory of this process. */
export interface MemoryCache {
  /** The object itself, not a copy: it is not to be written to. */
  get(name: ObjectName): Buffer | undefined;
  set(name: ObjectName, bytes: Buffer): void;
  stats(): { readonly objects: number; readonly bytes: number };
}

/** What an entry costs beside its bytes: its name, its Buffer, its place in the list. */
const entryBytes = 512;

/**
 * Bounded in bytes, 64 MiB when nothing is said; with 0 nothing is kept. What would take more than a `largestShare`
 * of the bound (an eighth) is not kept either: it would drive out many for one.
 */
export const createMemoryCache = ({
  maxBytes = 64 * 1024 * 1024,
  largestShare = 1 / 8,
}: {
  maxBytes?: number;
  largestShare?: number;
} = {}): MemoryCache => {
  const kept = new LRUCache<ObjectName, Buffer>({
    maxSize: Math.max(1, maxBytes), // 0 would mean no bound
    maxEntrySize: Math.max(1, Math.floor(maxBytes * largestShare)),
    sizeCalculation: (bytes) => bytes.length + entryBytes,
  });

  return {
    get: (name) => kept.get(name),
    set: (name, bytes) => {
      kept.set(name, ofItsOwn(bytes));
    },
    stats: () => ({ objects: kept.size, bytes: kept.calculatedSize }),
  };
};

/** A slice keeps the whole of what it was cut from in memory, which the bound would not see. */
const ofItsOwn = (bytes: Buffer): Buffer => {
  if (bytes.buffer.byteLength === bytes.length) return bytes;
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
};
