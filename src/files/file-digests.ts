import { createHash } from "node:crypto";
import { mkdir, open, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { lazy } from "../async/lazy.ts";
import { replaceFile } from "./replace-file.ts";

/** The SHA-256 of files, in hex. A file that has not changed is not read again. */
export interface FileDigests {
  /**
   * `identity`: a text that changes when the file does (see file-identity.ts).
   * @throws if the file cannot be read
   */
  sha256(path: string, identity: string): Promise<string>;
  /** Writes the digests for later processes. Never rejects. */
  keep(): Promise<void>;
}

/**
 * `record`: the file that keeps the digests between starts. It needs no more protection than
 * compiled code does. If it is undefined, this process alone remembers them.
 */
export const createFileDigests = (record: string | undefined): FileDigests => {
  /** `identity digest` by path. */
  const load = lazy(async () => new Map(record === undefined ? [] : await readRecord(record)));
  /** As above, of the files that this process has asked for. */
  const asked = new Map<string, string>();
  let hasChanged = false;
  return {
    sha256: async (path, identity) => {
      const last = asked.get(path) ?? (await load()).get(path);
      const isKnown = last?.startsWith(`${identity} `) === true;
      const read = isKnown ? last : `${identity} ${await readSha256(path)}`;
      asked.set(path, read);
      hasChanged ||= !isKnown;
      return read.slice(identity.length + 1);
    },
    keep: async () => {
      if (record === undefined || !hasChanged) return;
      hasChanged = false;
      await mkdir(dirname(record), { recursive: true })
        .then(() => replaceFile(record, JSON.stringify(Object.fromEntries(asked))))
        .catch(() => {}); // It may be read-only.
    },
  };
};

const readRecord = async (path: string): Promise<readonly [path: string, read: string][]> => {
  try {
    const record: object = JSON.parse(await readFile(path, "utf8"));
    return Object.entries(record).map(([file, read]) => [file, String(read)]);
  } catch {
    return []; // There is no record, or it is damaged.
  }
};

const chunkBytes = 256 * 1024;

/** One buffer for all chunks takes half of the CPU time of a stream. */
export const readSha256 = async (path: string): Promise<string> => {
  await using file = await open(path);
  const hash = createHash("sha256");
  const chunk = Buffer.allocUnsafe(chunkBytes);
  for (;;) {
    const { bytesRead } = await file.read(chunk);
    if (bytesRead === 0) return hash.digest("hex");
    hash.update(chunk.subarray(0, bytesRead));
  }
};
