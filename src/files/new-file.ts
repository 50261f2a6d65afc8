import { createReadStream } from "node:fs";
import { link, lstat, open, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";

/** A file that gets its name only when it is complete and durable. */
export interface NewFile extends AsyncDisposable {
  /** Writes the text durably, under another name. Only this user can read it. */
  write(text: AsyncIterable<string>): Promise<void>;
  /** Reads what was written. */
  read(): AsyncIterable<Uint8Array>;
  /**
   * Gives the file its name, durably.
   * @throws if there is a file of this name
   */
  publish(): Promise<void>;
}

/**
 * Disposing of the file removes what was not published.
 * @throws if there is a file of this name, or what an interrupted process has left of it
 */
export const createNewFile = async (path: string): Promise<NewFile> => {
  await requireNone(path, `${path} exists already`);
  const draft = draftOf(path);
  const handle = await open(draft, "wx", 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
    const message = `${draft} exists: another process is writing it, or an interrupted one has left it. Remove it if no process is writing it`;
    throw new Error(message, { cause: error });
  });
  return {
    write: async (text) => {
      await handle.writeFile(text);
      await handle.sync();
    },
    read: () => createReadStream(draft),
    publish: async () => {
      // Unlike a rename, a link never replaces a file.
      await link(draft, path);
      await rm(draft);
      await using folder = await open(dirname(path));
      await folder.sync();
    },
    [Symbol.asyncDispose]: async () => {
      await handle.close();
      await rm(draft, { force: true });
    },
  };
};

/**
 * Opens a file that exists, and makes it durable: another program may have copied it. Removes the
 * second name of a file that an interrupted process has published.
 * @throws if it is no file
 */
export const openDurableFile = async (path: string): Promise<{ read(): AsyncIterable<Uint8Array> }> => {
  // Opening a named pipe would wait for its writer.
  const found = await stat(path);
  if (!found.isFile()) throw new Error(`${path} is not a file`);
  const draft = await lstat(draftOf(path)).catch(() => undefined);
  if (draft?.ino === found.ino && draft.dev === found.dev) await rm(draftOf(path));
  await using handle = await open(path);
  await handle.sync();
  await using folder = await open(dirname(path));
  await folder.sync();
  return { read: () => createReadStream(path) };
};

const draftOf = (path: string): string => `${path}.part`;

const requireNone = async (path: string, message: string): Promise<void> => {
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  if (found) throw new Error(message);
};
