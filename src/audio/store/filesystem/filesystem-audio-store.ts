import { close, fstat, open, read } from "node:fs";
import { link, readFile, rename, rmdir, stat, statfs, unlink, utimes } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import pLimit from "p-limit";
import { tap } from "../../../async/tap.ts";
import { audioFolders } from "../../../domain/synthesis/recipe.ts";
import {
  type AudioContent,
  type AudioInfo,
  type AudioName,
  type AudioPart,
  type AudioStore,
  AudioStoreFull,
  AudioStoreUnavailable,
  type ByteRange,
  checkAudio,
  checkAudioName,
  checkHash,
  DamagedAudio,
  groupByHash,
  keepUnlessDamaged,
  type StoredAudio,
} from "../audio-store.ts";
import { PendingWrites } from "../pending-writes.ts";
import { audioSize, footerOf, parseAudioFile, parseFooter } from "./audio-file.ts";
import { entriesIn, listFiles, orIfMissing } from "./listing.ts";
import { createShards, type Shards, shardDirectories, shardedPath, syncDirectory } from "./shards.ts";
import { openTemporaryFiles } from "./temporary-files.ts";

/** Node has four threads for files: reads must not wait for writes. */
const writesAtOnce = 2;

/**
 * Stores objects as files, `{path}/public/ab/cd/{hash}.{ext}`. Directories have the mode 0700,
 * files 0600. Any number of processes may share them. The modification time of a file is the time
 * at which its object was last used.
 * The file system must support hard links: a link names a written and synced file in one step and
 * never replaces another, so that a partial object never has a name. Part of the disk stays free
 * for other files, such as the event log: objects that would take it are refused.
 * @throws {AudioStoreUnavailable} the directory cannot be created or written
 */
export const openFilesystemAudioStore = async ({ path }: { path: string }): Promise<AudioStore> => {
  const root = resolve(path);
  const temporary = await translateErrors("opened", () => openTemporaryFiles(join(root, "incoming")));
  const shards = createShards();
  const slot = pLimit(writesAtOnce);
  const writing = new PendingWrites();

  const write = (file: string, audio: AudioContent): Promise<AudioContent | undefined> => {
    const store = async () => {
      await requireSpace(root, audio.bytes.length);
      return temporary.withFile([audio.bytes, footerOf(audio)], (part) => publish(shards, part, file));
    };
    return writing.add(translateErrors("written", () => slot(store)));
  };

  const reading = async <T>(
    name: AudioName,
    signal: AbortSignal | undefined,
    read: (file: OpenFile) => Promise<T>,
  ): Promise<T | undefined> => {
    checkAudioName(name);
    return translateErrors("read", () => readingFile(shardedPath(root, name), signal, read));
  };

  return {
    get: (name, signal) => reading(name, signal, readAudio),
    stat: (name, signal) => reading(name, signal, readInfo),
    read: (name, range, signal) => reading(name, signal, (file) => readPart(file, range)),
    put: async (name, audio) => {
      checkAudio(name, audio);
      return write(shardedPath(root, name), audio);
    },
    touch: async (name) => {
      checkAudioName(name);
      const now = new Date();
      await translateErrors("written", () =>
        orIfMissing(utimes(shardedPath(root, name), now, now), undefined),
      );
    },
    list: (signal, folder) => {
      const files = listFiles(root, folder ? [folder] : audioFolders, signal);
      return groupByHash(tap(files, { onError: throwTranslated("read") }));
    },
    remove: async (hash, condition) => {
      checkHash(hash);
      return translateErrors("written", () => removeFiles(root, hash, condition?.unusedSince));
    },
    ping: () =>
      translateErrors("written", async () => {
        await requireSpace(root, 0);
        await temporary.withFile([Buffer.from("ping")], async () => undefined);
      }),
    close: () => writing.settled(),
  };
};

/** @throws {AudioStoreUnavailable} */
const requireSpace = async (root: string, bytes: number): Promise<void> => {
  const { bavail, blocks, bsize } = await statfs(root);
  // Free space that audio never takes: a twentieth of the disk, at most 1 GiB.
  const reserve = Math.min((blocks * bsize) / 20, 1024 ** 3);
  if (bavail * bsize - bytes >= reserve) return;
  const megabytes = Math.ceil(reserve / 1024 ** 2);
  throw new AudioStoreFull(
    `The audio store is full: ${megabytes} MB of its disk are kept free for the event log and other files.`,
  );
};

const openFile = promisify(open);
const statFile = promisify(fstat);
const readFrom = promisify(read);
const closeFile = promisify(close);

interface OpenFile {
  readonly fileSize: number;
  readonly usedAt: number;
  /** Reads the bytes of the range; fewer if the file ends before. */
  readonly bytesOf: (range: ByteRange) => Promise<Buffer>;
}

/**
 * Returns undefined if there is no such file. It does not use a `FileHandle` of `node:fs/promises`,
 * which takes twice the time.
 */
const readingFile = async <T>(
  file: string,
  signal: AbortSignal | undefined,
  read: (opened: OpenFile) => Promise<T>,
): Promise<T | undefined> => {
  signal?.throwIfAborted();
  const descriptor = await orIfMissing(openFile(file, "r"), undefined);
  if (descriptor === undefined) return undefined;
  try {
    const { size, mtimeMs } = await statFile(descriptor);
    const bytesOf = ({ start, end }: ByteRange) => readBytes(descriptor, { start, end }, signal);
    return await read({ fileSize: size, usedAt: mtimeMs, bytesOf });
  } finally {
    await closeFile(descriptor);
  }
};

const readBytes = async (
  descriptor: number,
  { start, end }: ByteRange,
  signal: AbortSignal | undefined,
): Promise<Buffer> => {
  const bytes = Buffer.allocUnsafeSlow(end - start);
  let at = 0;
  while (at < bytes.length) {
    signal?.throwIfAborted();
    const { bytesRead } = await readFrom(descriptor, bytes, at, bytes.length - at, start + at);
    if (bytesRead === 0) break;
    at += bytesRead;
  }
  signal?.throwIfAborted();
  return bytes.subarray(0, at);
};

const readAudio = async ({ fileSize, usedAt, bytesOf }: OpenFile): Promise<StoredAudio> => ({
  ...parseAudioFile(await bytesOf({ start: 0, end: fileSize })),
  usedAt,
});

const readInfo = async ({ fileSize, usedAt, bytesOf }: OpenFile): Promise<AudioInfo> => {
  const size = audioSize(fileSize);
  return { ...parseFooter(await bytesOf({ start: size, end: fileSize }), size), usedAt };
};

const readPart = async (file: OpenFile, { start, end }: ByteRange): Promise<AudioPart> => {
  const info = await readInfo(file);
  const last = Math.min(end, info.size);
  if (start >= last) throw new DamagedAudio();
  const bytes = await file.bytesOf({ start, end: last });
  if (bytes.length < last - start) throw new DamagedAudio();
  return { ...info, bytes };
};

/** Resolves with the object that exists already, if there is one. */
const publish = async (shards: Shards, part: string, file: string): Promise<AudioContent | undefined> => {
  const shard = dirname(file);
  await shards.ensure(shard);
  const existing = await linkOnce(part, file).catch(async (error: unknown) => {
    if (codeOf(error) !== "ENOENT") throw error;
    shards.forget(shard);
    await shards.ensure(shard);
    return linkOnce(part, file);
  });
  await syncDirectory(shard);
  return existing;
};

const linkOnce = async (part: string, file: string): Promise<AudioContent | undefined> => {
  try {
    await link(part, file);
    return undefined;
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
  // No put leaves a damaged file; a failing disk or an interrupted restore can.
  return keepUnlessDamaged(readFile(file).then(parseAudioFile), () => rename(part, file));
};

const removeFiles = async (
  root: string,
  hash: string,
  unusedSince: number | undefined,
): Promise<string[]> => {
  const removed: string[] = [];
  for (const [prefix, shard] of shardDirectories(root, hash)) {
    const files = (await entriesIn(shard)).filter((file) => file.startsWith(`${hash}.`));
    const times = await Promise.all(files.map((file) => orIfMissing(stat(join(shard, file)), undefined)));
    if (unusedSince !== undefined && times.some((found) => found && found.mtimeMs > unusedSince)) continue;
    for (const file of files) {
      if ((await orIfMissing(unlink(join(shard, file)), "missing")) !== "missing")
        removed.push(`${prefix}/${file}`);
    }
    // Empty folders would delay each listing.
    if (files.length > 0) await rmdir(shard).catch(() => undefined);
  }
  return removed;
};

const translateErrors = <T>(what: Access, run: () => Promise<T>): Promise<T> =>
  run().catch(throwTranslated(what));

type Access = "opened" | "read" | "written";
const noSpace = ["ENOSPC", "EDQUOT"];

/**
 * Translates errors of the file system into those of the port; their messages contain the code and
 * no path.
 */
const throwTranslated =
  (what: Access) =>
  (error: unknown): never => {
    const code = codeOf(error);
    if (code === undefined) throw error;
    const Failure = noSpace.includes(code) ? AudioStoreFull : AudioStoreUnavailable;
    throw new Failure(`The audio store cannot be ${what}: ${code}.`, { cause: error });
  };

/**
 * Returns `ENOSPC`, `EACCES`, …; undefined if the error is no system error. Of two errors, the
 * first one counts: closing the file may fail as well.
 */
const codeOf = (error: unknown): string | undefined => {
  if (error instanceof SuppressedError) return codeOf(error.suppressed);
  return error instanceof Error && "syscall" in error && "code" in error && typeof error.code === "string"
    ? error.code
    : undefined;
};
