import { readFile } from "node:fs";
import { link, mkdir, rename, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import pLimit from "p-limit";
import { type AudioStore, AudioStoreUnavailable, checkObjectName } from "../audio-store.ts";
import { createShards, type Shards, shardedPath, syncDirectory } from "./shards.ts";
import { openTemporaryFiles, type TemporaryFiles } from "./temporary-files.ts";

/** Node has four threads for files: reads must not wait for writes. */
const writesAtOnce = 2;

/**
 * Stores objects as files, `{path}/audio/ab/cd/{hash}.{ext}`: directories 0700, files 0600, any number of processes.
 * The file system must support hard links: a link names a written and synced file in one step and never replaces
 * another, so that a partial object never has a name. @throws {AudioStoreUnavailable} the directory cannot be created
 * or written
 */
export const openFilesystemAudioStore = async ({ path }: { path: string }): Promise<AudioStore> => {
  const root = resolve(path);
  const temporary = await translateErrors("opened", () => openDirectories(root));
  const shards = createShards();
  const slot = pLimit(writesAtOnce);
  const writing = new Set<Promise<void>>();

  const write = (file: string, bytes: Buffer): Promise<void> => {
    const store = () => temporary.withFile(bytes, (part) => publish(shards, part, file, bytes));
    const written = translateErrors("written", () => slot(store));
    const tracked = written
      .catch(() => undefined)
      .finally(() => {
        writing.delete(tracked);
      });
    writing.add(tracked);
    return written;
  };

  return {
    get: async (name, signal) => {
      checkObjectName(name);
      signal?.throwIfAborted();
      return translateErrors("read", () => read(shardedPath(root, name), signal));
    },
    put: async (name, bytes) => {
      checkObjectName(name);
      if (bytes.length === 0) throw new TypeError("An audio object is never empty.");
      await write(shardedPath(root, name), bytes);
    },
    ping: () =>
      translateErrors("written", () => temporary.withFile(Buffer.from("ping"), async () => undefined)),
    close: async () => {
      await Promise.all(writing);
    },
  };
};

const openDirectories = async (root: string): Promise<TemporaryFiles> => {
  await mkdir(root, { recursive: true, mode: 0o700 });
  return openTemporaryFiles(join(root, "incoming"));
};

/** Callbacks report a missing file in half the time of the promises of `node:fs`. */
const readWhole = (file: string, signal?: AbortSignal): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    readFile(file, { signal }, (error, bytes) => (error ? reject(error) : resolve(bytes)));
  });

/** An empty file is not an object: none is ever put. */
const read = async (file: string, signal: AbortSignal | undefined): Promise<Buffer | undefined> => {
  try {
    const bytes = await readWhole(file, signal);
    return bytes.length === 0 ? undefined : bytes;
  } catch (error) {
    signal?.throwIfAborted();
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
};

const publish = async (shards: Shards, part: string, file: string, bytes: Buffer): Promise<void> => {
  const shard = dirname(file);
  await shards.ensure(shard);
  try {
    await linkOnce(part, file, bytes);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    shards.forget(shard);
    await shards.ensure(shard);
    await linkOnce(part, file, bytes);
  }
  await syncDirectory(shard);
};

const linkOnce = async (part: string, file: string, bytes: Buffer): Promise<void> => {
  try {
    await link(part, file);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
    if (await isTruncatedCopy(file, bytes)) await rename(part, file);
  }
};

/**
 * True if the file is a truncated copy of the object. No put leaves one; a failing disk, a repair or an interrupted
 * restore can. Only such a file is replaced.
 */
const isTruncatedCopy = async (file: string, bytes: Buffer): Promise<boolean> => {
  const { size } = await stat(file);
  return size < bytes.length && bytes.subarray(0, size).equals(await readWhole(file));
};

/** Translates errors of the file system into those of the port; their messages contain the code and no path. */
const translateErrors = async <T>(what: "opened" | "read" | "written", run: () => Promise<T>): Promise<T> => {
  try {
    return await run();
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined) throw error;
    throw new AudioStoreUnavailable(`The audio store cannot be ${what}: ${code}.`, { cause: error });
  }
};

/** `ENOSPC`, `EACCES`, …; undefined if the error is not of the system. */
const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && "syscall" in error && "code" in error && typeof error.code === "string"
    ? error.code
    : undefined;
