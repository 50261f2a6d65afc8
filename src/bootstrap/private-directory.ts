import { mkdir, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";

/**
 * Makes a folder, for its owner alone, and those above it that are missing. Not `mkdir` with `recursive`: under /proc,
 * where nobody makes anything and the refusal is ENOENT, that one tries for ever.
 * @throws when it cannot be made
 */
export const makePrivateDirectory = async (path: string): Promise<void> => {
  const folder = resolve(path);
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" && (await stat(folder)).isDirectory()) return;
    if (code !== "ENOENT" || (await exists(dirname(folder)))) throw error;
    await makePrivateDirectory(dirname(folder));
    await makePrivateDirectory(folder);
  }
};

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
