import { mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * A file for reading and writing that has lost its name already: whoever dies, and however, nothing stays behind.
 * In memory where there is /dev/shm.
 */
export const openUnnamedFile = (): number => {
  const folder = makeFolder();
  try {
    return openSync(join(folder, "sound"), "wx+", 0o600);
  } finally {
    rmSync(folder, { recursive: true });
  }
};

const makeFolder = (): string => {
  try {
    return mkdtempSync("/dev/shm/voxledger-");
  } catch {
    return mkdtempSync(join(tmpdir(), "voxledger-"));
  }
};
