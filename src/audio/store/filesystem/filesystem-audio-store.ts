import { readFile } from "node:fs";
import { link, mkdir, rename, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import pLimit from "p-limit";
import { type AudioStore, AudioStoreUnavailable, checkObjectName } from "../audio-store.ts";
import { createShards, type Shards, shardedPath, syncDirectory } from "./shards.ts";
import { openTemporaryFiles, type TemporaryFiles } from "./temporary-files.ts";

/** Of the four threads that Node has for files: who wants to hear must not wait until others' sounds are on the disk. */
const writesAtOnce = 2;

/**
 * Objects as files, `{path}/audio/ab/cd/{hash}.{ext}`: folders 0700, files 0600, any number of processes at once.
 * The file system must know hard links: a link gives a file that is written and synced its name in one step and
 * never takes the name from another, so that half an object is never under a name, whoever is killed when.
 * @throws {AudioStoreUnavailable} when the folder cannot be made or written
 */
export const openFilesystemAudioStore = async ({ path }: { path: string }): Promise<AudioStore> => {
  const root = resolve(path);
  const incoming = await told("opened", () => openFolders(root));
  const shards = createShards();
  const slot = pLimit(writesAtOnce);
  const writing = new Set<Promise<void>>();

  const write = (file: string, bytes: Buffer): Promise<void> => {
    const hold = () => incoming.withFile(bytes, (part) => publish(shards, part, file, bytes));
    const written = told("written", () => slot(hold));
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
      return told("read", () => read(shardedPath(root, name), signal));
    },
    put: async (name, bytes) => {
      checkObjectName(name);
      if (bytes.length === 0) throw new TypeError("An audio object is never empty.");
      await write(shardedPath(root, name), bytes);
    },
    ping: () => told("written", () => incoming.withFile(Buffer.from("ping"), async () => undefined)),
    close: async () => {
      await Promise.all(writing);
    },
  };
};

const openFolders = async (root: string): Promise<TemporaryFiles> => {
  await mkdir(root, { recursive: true, mode: 0o700 });
  return openTemporaryFiles(join(root, "incoming"));
};

/** What is not there, as most of what is asked for, is told in half the time that the promises of `node:fs` take. */
const readWhole = (file: string, signal?: AbortSignal): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    readFile(file, { signal }, (error, bytes) => (error ? reject(error) : resolve(bytes)));
  });

/** An empty file is no object: none was ever put, somebody emptied it. */
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
    await give(part, file, bytes);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    shards.forget(shard);
    await shards.ensure(shard);
    await give(part, file, bytes);
  }
  await syncDirectory(shard);
};

const give = async (part: string, file: string, bytes: Buffer): Promise<void> => {
  try {
    await link(part, file);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
    if (await isRemnant(file, bytes)) await rename(part, file);
  }
};

/**
 * Whether the file is a mere beginning of the object that is being put under its name. No put leaves one; a failing
 * disk, a repair of the file system or a restore that was broken off can. It is the one thing that a put replaces.
 */
const isRemnant = async (file: string, bytes: Buffer): Promise<boolean> => {
  const { size } = await stat(file);
  return size < bytes.length && bytes.subarray(0, size).equals(await readWhole(file));
};

/** Runs it and tells the file system's refusals as the port does; the message holds the code and no path. */
const told = async <T>(what: "opened" | "read" | "written", run: () => Promise<T>): Promise<T> => {
  try {
    return await run();
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined) throw error;
    throw new AudioStoreUnavailable(`The audio store cannot be ${what}: ${code}.`, { cause: error });
  }
};

/** `ENOSPC`, `EACCES`, …; undefined for what the system did not say. */
const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && "syscall" in error && "code" in error && typeof error.code === "string"
    ? error.code
    : undefined;
