import { type AudioFolder, audioFolders, isAudioName } from "../../domain/synthesis/recipe.ts";
import type { EpochMs } from "../../domain/time.ts";
import type { AudioLength } from "../formats/audio-length.ts";

/** The name of an object: see `audioName` and `marksName` in `src/domain/synthesis/`. */
export type AudioName = string;

/** Complete audio. */
export interface AudioContent {
  readonly bytes: Buffer;
  /**
   * The length that was measured when the audio was made. The store keeps it, so that no reader has
   * to parse the audio.
   */
  readonly length: AudioLength;
}

export interface StoredAudio extends AudioContent {
  /** The time at which it was last put or touched. */
  readonly usedAt: EpochMs;
}

/** The facts about an object without its bytes. */
export interface AudioInfo {
  /** The number of bytes. */
  readonly size: number;
  readonly length: AudioLength;
  /** The time at which it was last put or touched. */
  readonly usedAt: EpochMs;
  /** True for the CRC-32 of the bytes that were put. */
  readonly hasChecksum: (crc32: number) => boolean;
}

/** Some bytes of an object. */
export interface AudioPart extends AudioInfo {
  readonly bytes: Buffer;
}

/** Offsets of bytes; `end` is the first one after them. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** The objects that a store keeps under one hash: audio, and what belongs to it. */
export interface AudioFiles {
  readonly hash: string;
  /** The names of its objects. */
  readonly names: readonly string[];
  readonly bytes: number;
  /** The time at which one of them was last put or touched. */
  readonly usedAt: EpochMs;
}

/**
 * Immutable objects under content-addressed names. All methods that take a name throw a TypeError
 * for any other string.
 */
export interface AudioStore {
  /**
   * Resolves with the object as it was put, or with undefined if there is none.
   * @throws {AudioStoreUnavailable} {DamagedAudio}; the signal's reason
   */
  get(name: AudioName, signal?: AbortSignal): Promise<StoredAudio | undefined>;
  /**
   * Resolves with the facts about the object, or with undefined if there is none. Verifies the
   * number of its bytes, but does not read them.
   * @throws {AudioStoreUnavailable} {DamagedAudio}; the signal's reason
   */
  stat(name: AudioName, signal?: AbortSignal): Promise<AudioInfo | undefined>;
  /**
   * Resolves with the bytes of the range, or with fewer if the object ends before the range does.
   * The bytes are not verified, because the checksum covers all bytes of the object: a reader of
   * all parts compares it. Nothing stays open between two parts, so that slow clients hold no file
   * and no connection.
   * @throws as `stat`; {DamagedAudio} also if the object ends before the range
   */
  read(name: AudioName, range: ByteRange, signal?: AbortSignal): Promise<AudioPart | undefined>;
  /**
   * Stores the object atomically and durably. An existing object is never overwritten, unless it is
   * damaged: a second put of the same name is a no-op, and resolves with the existing object.
   * @throws {AudioStoreUnavailable}; {TypeError} the object is empty
   */
  put(name: AudioName, audio: AudioContent): Promise<AudioContent | undefined>;
  /**
   * Records that the object is in use now; a no-op if there is none.
   * @throws {AudioStoreUnavailable}
   */
  touch(name: AudioName): Promise<void>;
  /**
   * Lists all audio, or the audio of one folder, in the order of the names, with a bounded amount
   * of memory. Objects that are put or removed meanwhile may be listed or not.
   * @throws {AudioStoreUnavailable}; the signal's reason
   */
  list(signal: AbortSignal, folder?: AudioFolder): AsyncIterable<AudioFiles>;
  /**
   * Removes everything under the hash; with `unusedSince`, only what was not put or touched after
   * this time. Calls of `get` in progress are not disturbed. Resolves with the names of the removed
   * objects.
   * @throws {AudioStoreUnavailable}
   */
  remove(hash: string, condition?: { readonly unusedSince: number }): Promise<readonly string[]>;
  /**
   * Resolves if the store can be written.
   * @throws {AudioStoreUnavailable}
   */
  ping(): Promise<void>;
  /** Waits for the puts in progress. */
  close(): Promise<void>;
}

/**
 * The message of the error does not contain the name, which may come from a request.
 * @throws {TypeError}
 */
export const checkAudioName = (name: string): void => {
  if (!isAudioName(name)) throw new TypeError("Not the name of an audio object.");
};

/** @throws {TypeError} the name is not one of an object, or the object is empty */
export const checkAudio = (name: string, { bytes }: AudioContent): void => {
  checkAudioName(name);
  if (bytes.length === 0) throw new TypeError("An audio object is never empty.");
};

/** The bytes under the name are not those that were put: bytes are missing or have changed. */
export class DamagedAudio extends Error {
  override readonly name = "DamagedAudio";

  constructor() {
    super("The audio object is damaged.");
  }
}

/**
 * Resolves with the existing object. If it is damaged, replaces it and resolves with undefined.
 * @throws other errors of the read
 */
export const keepUnlessDamaged = async <T>(
  read: Promise<T>,
  replace: () => Promise<void>,
): Promise<T | undefined> => {
  try {
    return await read;
  } catch (error) {
    if (!(error instanceof DamagedAudio)) throw error;
  }
  await replace();
  return undefined;
};

/** Returns the hash in the name of audio or of its marks; undefined for any other name. */
export const hashInName = (name: string): string | undefined => hashPattern.exec(name)?.[1];

const hashPattern = new RegExp(`^(?:${audioFolders.join("|")})/([0-9a-f]{64})\\.[a-z0-9.]+$`);

/** @throws {TypeError} */
export const checkHash = (hash: string): void => {
  if (!/^[0-9a-f]{64}$/.test(hash)) throw new TypeError("Not the hash of an audio object.");
};

/** Groups objects by their hash. They must come in the order of their names. */
export async function* groupByHash(
  files: AsyncIterable<{ readonly name: string; readonly bytes: number; readonly usedAt: number }>,
): AsyncGenerator<AudioFiles, void> {
  let group: AudioFiles | undefined;
  for await (const { name, bytes, usedAt } of files) {
    const hash = hashInName(name);
    if (hash === undefined) continue;
    if (group?.hash === hash) {
      const names = [...group.names, name];
      group = { hash, names, bytes: group.bytes + bytes, usedAt: Math.max(group.usedAt, usedAt) };
      continue;
    }
    if (group) yield group;
    group = { hash, names: [name], bytes, usedAt };
  }
  if (group) yield group;
}

/** The store cannot be reached, or refuses the request. Whether the object exists is unknown. */
export class AudioStoreUnavailable extends Error {
  override readonly name = "AudioStoreUnavailable";
}

/** There is no space for new objects. Existing ones can be read. */
export class AudioStoreFull extends AudioStoreUnavailable {}
