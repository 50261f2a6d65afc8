import { randomUUID } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Writes a new file durably. Only its owner can access it.
 * @throws if it exists
 */
export const createPrivateFile = async (path: string, text: string): Promise<void> => {
  await using file = await open(path, "wx", 0o600);
  await file.writeFile(text);
  await file.sync();
};

/** Creates or replaces a file atomically and durably: readers see the old one or the new one. */
export const replacePrivateFile = async (path: string, text: string): Promise<void> => {
  const draft = `${path}.${randomUUID()}`;
  try {
    await createPrivateFile(draft, text);
    await rename(draft, path);
    await syncDirectory(dirname(path));
  } finally {
    await rm(draft, { force: true });
  }
};

/** Makes the directory's entries survive a power failure. */
export const syncDirectory = async (path: string): Promise<void> => {
  await using directory = await open(path, "r");
  await directory.sync();
};
