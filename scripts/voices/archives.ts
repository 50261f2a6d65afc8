import { gunzipSync, inflateRawSync } from "node:zlib";

/**
 * The content of a file in an archive, by its path there.
 * @throws {Error} if the archive does not have the file
 */
export type ReadMember = (path: string) => Buffer;

/** Opens a wheel (zip) or a source archive (tar.gz) whose digest was checked. */
export const openArchive = (name: string, bytes: Buffer): ReadMember => {
  const members = name.endsWith(".whl") ? zipMembers(bytes) : tarMembers(gunzipSync(bytes));
  return (path) => {
    const read = members.get(path);
    if (!read) throw new Error(`${name} has no ${path}`);
    return read();
  };
};

type Members = ReadonlyMap<string, () => Buffer>;

const signatures = { end: 0x06054b50, entry: 0x02014b50 } as const;

/** Reads the central directory (APPNOTE.TXT, section 4.3.12). */
const zipMembers = (zip: Buffer): Members => {
  const members = new Map<string, () => Buffer>();
  const endLength = 22;
  let end = zip.length - endLength;
  while (end > 0 && zip.readUInt32LE(end) !== signatures.end) end -= 1;
  let at = zip.readUInt32LE(end + 16);
  while (zip.readUInt32LE(at) === signatures.entry) {
    const isStored = zip.readUInt16LE(at + 10) === 0;
    const compressedLength = zip.readUInt32LE(at + 20);
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((offset) =>
      zip.readUInt16LE(at + offset),
    );
    const header = zip.readUInt32LE(at + 42);
    const name = zip.toString("utf8", at + 46, at + 46 + (nameLength ?? 0));
    members.set(name, () => {
      // The lengths in the local header may differ from those of the directory.
      const start = header + 30 + zip.readUInt16LE(header + 26) + zip.readUInt16LE(header + 28);
      const content = zip.subarray(start, start + compressedLength);
      return isStored ? content : inflateRawSync(content);
    });
    at += 46 + (nameLength ?? 0) + (extraLength ?? 0) + (commentLength ?? 0);
  }
  return members;
};

const blockLength = 512;

/** Reads the headers of a POSIX tar archive. */
const tarMembers = (tar: Buffer): Members => {
  const members = new Map<string, () => Buffer>();
  const textAt = (from: number, length: number): string =>
    tar.toString("utf8", from, from + length).replace(/\0.*$/s, "");
  for (let at = 0; at + blockLength <= tar.length && tar[at] !== 0; ) {
    const start = at + blockLength;
    const length = Number.parseInt(textAt(at + 124, 12), 8);
    members.set(textAt(at, 100), () => tar.subarray(start, start + length));
    at = start + Math.ceil(length / blockLength) * blockLength;
  }
  return members;
};
