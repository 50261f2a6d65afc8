import { mkdir, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { exists } from "../files/exists.ts";

/**
 * Creates a directory that only its owner can access, and its missing parents. `mkdir` with
 * `recursive` is not used: it loops endlessly under /proc, where every attempt fails with ENOENT.
 * @throws when it cannot be created
 */
export const makePrivateDirectory = async (path: string): Promise<void> => {
  const directory = resolve(path);
  try {
    await mkdir(directory, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" && (await stat(directory)).isDirectory()) return;
    if (code !== "ENOENT" || (await exists(dirname(directory)))) throw error;
    await makePrivateDirectory(dirname(directory));
    await makePrivateDirectory(directory);
  }
};

/**
 * Describes to operators which of the paths other users may read or change. Paths that do not exist
 * are ignored.
 */
export const sharedPaths = async (paths: readonly string[]): Promise<string[]> => {
  const found = paths.map(async (path) => {
    const mode = (await stat(path).catch(() => undefined))?.mode ?? 0;
    return (mode & 0o077) === 0 ? [] : [`${path} is accessible to other users: chmod go= ${path}`];
  });
  return (await Promise.all(found)).flat();
};
