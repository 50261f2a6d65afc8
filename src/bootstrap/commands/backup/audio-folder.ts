import { createHash } from "node:crypto";
import { lstat, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { formatListed, type ListedAudio, parseListed } from "../../../application/backup/audio-list.ts";
import { BadBackup } from "../../../application/backup/manifest.ts";
import { audioFolders } from "../../../domain/synthesis/recipe.ts";

/**
 * Refuses a folder of audio that contains symbolic links: what they name may be anything, and
 * outside of the folder. The folder may be missing.
 * @throws {BadBackup}; the signal's reason
 */
export const refuseLinks = async (folder: string, signal: AbortSignal, depth = 0): Promise<void> => {
  signal.throwIfAborted();
  for (const entry of (await orMissing(readdir(folder, { withFileTypes: true }))) ?? []) {
    const path = join(folder, entry.name);
    if (entry.isSymbolicLink()) throw linkError(path);
    const isOfAudio = depth > 0 || audioFolders.some((name) => name === entry.name);
    if (entry.isDirectory() && isOfAudio) await refuseLinks(path, signal, depth + 1);
  }
};

const linkError = (path: string): BadBackup =>
  new BadBackup(`${path} is a symbolic link: folders of audio must not contain any`);

/** @throws {BadBackup} if the path is anything but a directory or missing */
export const refuseLink = async (path: string): Promise<void> => {
  if ((await orMissing(lstat(path)))?.isDirectory() === false)
    throw new BadBackup(`${path} is not a directory, or is a symbolic link`);
};

const orMissing = <T>(found: Promise<T>): Promise<T | undefined> =>
  found.catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });

const writtenAtOnce = 64 * 1024;

/** Writes a list of audio to a new file, which only its owner can access. */
export const createListFile = async (path: string) => {
  const file = await open(path, "wx", 0o600);
  const digest = createHash("sha256");
  let unwritten = "";
  const write = async (): Promise<void> => {
    await file.write(unwritten);
    digest.update(unwritten);
    unwritten = "";
  };
  return {
    add: async (entry: ListedAudio): Promise<void> => {
      unwritten += formatListed(entry);
      if (unwritten.length >= writtenAtOnce) await write();
    },
    /** Syncs the file, and resolves with its digest. */
    end: async (): Promise<string> => {
      await write();
      await file.sync();
      return digest.digest("hex");
    },
    close: () => file.close(),
  };
};

/** @throws {BadBackup} */
export async function* readListFile(path: string): AsyncGenerator<ListedAudio, void> {
  await using file = await open(path);
  for await (const line of file.readLines()) yield parseListed(line);
}
