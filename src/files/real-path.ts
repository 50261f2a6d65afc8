import { realpath, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";

/** Returns the path without symbolic links. Its last parts may be missing. */
export const realPath = async (path: string): Promise<string> => {
  const absolute = resolve(path);
  try {
    return await realpath(absolute);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return join(await realPath(dirname(absolute)), basename(absolute));
  }
};

/** True if the path is that of the directory, or of something in it. Both are real paths. */
export const isWithin = (directory: string, path: string): boolean => {
  const way = relative(directory, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
};

/** True if both exist and are the same, such as under two names of a bind mount. */
export const isSameFile = async (path: string, other: string): Promise<boolean> => {
  const [one, two] = await Promise.all([path, other].map((name) => stat(name).catch(() => undefined)));
  return one !== undefined && one.ino === two?.ino && one.dev === two.dev;
};
