import { randomUUID } from "node:crypto";
import { openSync, statfsSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** In order of preference. Containers have 64 MB in /dev/shm by default. */
const folders = ["/dev/shm", tmpdir()];

/**
 * An unnamed temporary file, which disappears with its process. It is in the first directory with room for `bytes`, or
 * in the one with the most room. @throws if no directory is writable
 */
export const openTemporaryFile = (bytes: number): number => {
  const byRoom = folders.map((folder) => ({ folder, room: roomIn(folder) }));
  const [first] = [...byRoom.filter(({ room }) => room >= bytes), ...byRoom.sort((a, b) => b.room - a.room)];
  const path = join(first?.folder ?? tmpdir(), `voxledger-${randomUUID()}`);
  const file = openSync(path, "wx+", 0o600);
  unlinkSync(path);
  return file;
};

const roomIn = (folder: string): number => {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return 0;
  }
};
