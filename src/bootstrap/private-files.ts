import { open } from "node:fs/promises";

/**
 * Writes a new file durably. Only its owner can access it.
 * @throws if it exists
 */
export const createPrivateFile = async (path: string, text: string): Promise<void> => {
  await using file = await open(path, "wx", 0o600);
  await file.writeFile(text);
  await file.sync();
};

/** Makes the directory's entries survive a power failure. */
export const syncDirectory = async (path: string): Promise<void> => {
  await using directory = await open(path, "r");
  await directory.sync();
};
