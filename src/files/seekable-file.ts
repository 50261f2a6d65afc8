import { open, stat } from "node:fs/promises";

/** An open file, which is read from its beginning and at any place. */
export interface SeekableFile extends AsyncDisposable {
  /** For messages. */
  readonly path: string;
  /** Reads the whole file. */
  open(): AsyncIterable<Uint8Array>;
  /** Resolves with fewer bytes at the end of the file. */
  read(offset: number, length: number): Promise<Uint8Array>;
}

/** @throws if it is no regular file, such as a pipe, which cannot be read twice */
export const openSeekable = async (path: string): Promise<SeekableFile> => {
  if (!(await stat(path)).isFile()) throw new Error(`${path} is no regular file`);
  const handle = await open(path);
  return {
    path,
    open: () => handle.createReadStream({ start: 0, autoClose: false }),
    read: async (offset, length) => {
      const buffer = Buffer.alloc(length);
      let filled = 0;
      while (filled < length) {
        const { bytesRead } = await handle.read(buffer, filled, length - filled, offset + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return buffer.subarray(0, filled);
    },
    [Symbol.asyncDispose]: () => handle.close(),
  };
};
