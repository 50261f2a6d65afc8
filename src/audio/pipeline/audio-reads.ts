import { crc32 } from "node:zlib";
import pLimit from "p-limit";
import { Unavailable } from "../../domain/errors.ts";
import type { AudioContent, AudioInfo, AudioName, AudioPart, ByteRange } from "../store/audio-store.ts";
import { orUnavailable } from "./lookup.ts";
import type { MemoryCache } from "./memory-cache.ts";
import type { PipelineLimits } from "./pipeline-limits.ts";
import type { StoreReader } from "./store-reader.ts";

export interface ReadOptions {
  readonly signal: AbortSignal;
  /** Awaited before each part is read. `bytes`: the most that the part may have. */
  readonly beforePart?: (bytes: number) => Promise<void>;
}

/**
 * Reads objects for anyone who has their names: in parts, so that no request holds a large object.
 */
export interface AudioReads {
  /**
   * Resolves with the facts about the object, in memory or in the store.
   * @throws {Unavailable} the store cannot be read
   */
  statAudio(name: AudioName, signal: AbortSignal): Promise<AudioInfo | undefined>;
  /**
   * Yields the bytes of the range, in parts; nothing if there is no object. The last part of a
   * whole object is yielded only if all bytes are those that were stored. The bytes of a smaller
   * range cannot be verified.
   * @throws {Unavailable} the store cannot be read; or, after the first part, the object was
   * removed or is found to be damaged
   */
  readAudio(name: AudioName, range: ByteRange, options: ReadOptions): AsyncGenerator<AudioPart, void>;
}

interface AudioReadsOptions {
  /** Returns the object if it is in memory. */
  readonly cached: (name: AudioName) => AudioContent | undefined;
  /**
   * Resolves when the object in memory has the bytes that the store keeps, or after a limit of
   * time.
   */
  readonly untilWritten: (name: AudioName, signal: AbortSignal) => Promise<void>;
  readonly reader: StoreReader;
  readonly cache: Pick<MemoryCache, "reportUse">;
  readonly limits: Pick<PipelineLimits, "audioReads" | "partBytes">;
}

export const createAudioReads = (options: AudioReadsOptions): AudioReads => {
  const { cached, untilWritten, reader, cache, limits } = options;
  const slot = pLimit(limits.audioReads);

  const read = async (
    name: AudioName,
    range: ByteRange,
    signal: AbortSignal,
  ): Promise<AudioPart | undefined> => {
    const audio = cached(name);
    if (audio) return partOfAudio(audio, range);
    return await orUnavailable(slot(() => reader.readPart(name, range, signal)));
  };

  return {
    statAudio: async (name, signal) => {
      await untilWritten(name, signal);
      const audio = cached(name);
      if (audio) return infoOf(audio);
      const info = await orUnavailable(slot(() => reader.stat(name, signal)));
      if (info) cache.reportUse(name, info.usedAt);
      return info;
    },
    readAudio: async function* (name, { start, end }, { signal, beforePart }) {
      await untilWritten(name, signal);
      let known: AudioPart | undefined;
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

/** Returns the facts without a reference to the object, which would keep it in memory. */
const infoOf = ({ bytes, length }: AudioContent): AudioInfo => {
  const checksum = checksumOf(bytes);
  return {
    size: bytes.length,
    length,
    usedAt: Number.POSITIVE_INFINITY, // the cache reports its uses itself
    hasChecksum: (other) => other === checksum,
  };
};

/** The part has its own memory, unless it is the whole object. */
const partOfAudio = (audio: AudioContent, { start, end }: ByteRange): AudioPart => {
  const part = audio.bytes.subarray(start, end);
  return {
    ...infoOf(audio),
    bytes: part.length === audio.bytes.length ? audio.bytes : Buffer.from(part),
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
