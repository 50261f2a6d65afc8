import { crc32 } from "node:zlib";
import pLimit from "p-limit";
import { Unavailable } from "../../domain/errors.ts";
import type { AudioObject, ByteRange, ObjectInfo, ObjectName, ObjectPart } from "../store/audio-store.ts";
import { orUnavailable } from "./lookup.ts";
import type { MemoryCache } from "./memory-cache.ts";
import type { PipelineLimits } from "./pipeline-limits.ts";
import type { StoreReader } from "./store-reader.ts";

export interface ReadOptions {
  readonly signal: AbortSignal;
  /** Awaited before each part is read, with the bytes that it may take. */
  readonly beforePart?: (bytes: number) => Promise<void>;
}

/** Reads of objects by anyone who has their names: never a whole object at once. */
export interface ObjectReads {
  /** What is known of the object, in memory or in the store. @throws {Unavailable} the store cannot be read */
  statObject(name: ObjectName, signal: AbortSignal): Promise<ObjectInfo | undefined>;
  /**
   * The bytes of the range, in parts; nothing if there is no object. The last part of a whole object is read only if all
   * bytes are those that were stored. The bytes of a smaller range cannot be verified. @throws {Unavailable} the store
   * cannot be read, or the object is damaged or was removed after the first part
   */
  readObject(name: ObjectName, range: ByteRange, options: ReadOptions): AsyncGenerator<ObjectPart, void>;
}

interface ObjectReadsOptions {
  /** The object, if it is in memory. */
  readonly cached: (name: ObjectName) => AudioObject | undefined;
  /** Resolves when the bytes of the object are those that the store keeps. */
  readonly untilWritten: (name: ObjectName, signal: AbortSignal) => Promise<void>;
  readonly reader: StoreReader;
  readonly cache: Pick<MemoryCache, "reportUse">;
  readonly limits: Pick<PipelineLimits, "objectReads" | "partBytes">;
}

export const createObjectReads = (options: ObjectReadsOptions): ObjectReads => {
  const { cached, untilWritten, reader, cache, limits } = options;
  const slot = pLimit(limits.objectReads);

  const read = async (
    name: ObjectName,
    range: ByteRange,
    signal: AbortSignal,
  ): Promise<ObjectPart | undefined> => {
    const object = cached(name);
    if (object) return partOfObject(object, range);
    return await orUnavailable(slot(() => reader.readPart(name, range, signal)));
  };

  return {
    statObject: async (name, signal) => {
      await untilWritten(name, signal);
      const object = cached(name);
      if (object) return infoOf(object);
      const info = await orUnavailable(slot(() => reader.stat(name, signal)));
      if (info) cache.reportUse(name, info.usedAt);
      return info;
    },
    readObject: async function* (name, { start, end }, { signal, beforePart }) {
      await untilWritten(name, signal);
      let known: ObjectPart | undefined;
      let checksum = 0;
      for (let at = start; at < Math.min(end, known?.size ?? end); ) {
        const next = Math.min(at + limits.partBytes, end, known?.size ?? end);
        await beforePart?.(next - at);
        const part = await read(name, { start: at, end: next }, signal);
        if (!known && part) cache.reportUse(name, part.usedAt);
        if (known && part?.size !== known.size) throw interrupted();
        if (!part) return;
        known ??= part;
        at += part.bytes.length;
        checksum = crc32(part.bytes, checksum);
        if (start === 0 && at === part.size && !part.hasChecksum(checksum)) {
          reader.reportDamage(name);
          if (part.bytes.length === part.size) return;
          throw interrupted();
        }
        yield part;
      }
    },
  };
};

const interrupted = (): Unavailable => new Unavailable("The audio changed while it was read.", 1);

/** Without a reference to the object, which would keep it in memory. */
const infoOf = ({ bytes, length }: AudioObject): ObjectInfo => {
  const checksum = checksumOf(bytes);
  return {
    size: bytes.length,
    length,
    usedAt: Number.POSITIVE_INFINITY, // the cache reports its uses itself
    hasChecksum: (other) => other === checksum,
  };
};

/** With its own memory, unless it is the whole object. */
const partOfObject = (object: AudioObject, { start, end }: ByteRange): ObjectPart => {
  const part = object.bytes.subarray(start, end);
  return {
    ...infoOf(object),
    bytes: part.length === object.bytes.length ? object.bytes : Buffer.from(part),
  };
};

const checksums = new WeakMap<Buffer, number>();

const checksumOf = (bytes: Buffer): number => {
  const known = checksums.get(bytes);
  if (known !== undefined) return known;
  const checksum = crc32(bytes);
  checksums.set(bytes, checksum);
  return checksum;
};
