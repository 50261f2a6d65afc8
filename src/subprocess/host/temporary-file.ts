import { randomUUID } from "node:crypto";
import { openSync, statfsSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** In order of preference. Containers have 64 MB in /dev/shm unless they are given more. */
const folders = ["/dev/shm", tmpdir()];

/**
 * A file for reading and writing that has no name any more, so that no process leaves its content behind, however it
 * ends. It lies in the first folder with room for `bytes`; without any, in the one that has most.
 * @throws if no folder can be written
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
