import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Projection } from "../projection.ts";
import type { SnapshotStore } from "./snapshot.ts";
import { parseSnapshot, serializeSnapshot } from "./snapshot-text.ts";

/** Snapshots as files: one for each projection and version, whole at every time. */
export const createSnapshotFiles = (folder: string): SnapshotStore => ({
  save: async (projection, partitions, span) => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const temporary = join(folder, `${temporaryPrefix(projection)}${randomUUID()}`);
    try {
      await write(temporary, serializeSnapshot(partitions, span));
      await rename(temporary, join(folder, fileOf(projection)));
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    await tidy(folder, projection);
  },
  load: async (projection) => {
    try {
      return await parseSnapshot(createReadStream(join(folder, fileOf(projection)), "utf8"));
    } catch {
      return undefined;
    }
  },
});

const fileOf = ({ name, version }: Projection<unknown>): string => `${name}.v${version}.jsonl`;
const temporaryPrefix = (projection: Projection<unknown>): string => `.${fileOf(projection)}.`;

const write = async (path: string, parts: Iterable<string>): Promise<void> => {
  const file = await open(path, "wx", 0o600);
  try {
    for (const part of parts) await file.writeFile(part);
    await file.sync();
  } finally {
    await file.close();
  }
};

/** No snapshot takes so long to write: a temporary file this old is what a crash left. */
const abandonedMs = 3_600_000;

/** Removes what older versions of the projection and crashed processes left. A newer version's are for who knows it. */
const tidy = async (folder: string, projection: Projection<unknown>): Promise<void> => {
  for (const file of await readdir(folder)) {
    const path = join(folder, file);
    const abandoned = file.startsWith(temporaryPrefix(projection)) && (await ageOf(path)) > abandonedMs;
    if (abandoned || isOlder(file, projection)) await rm(path, { force: true });
  }
};

const isOlder = (file: string, { name, version }: Projection<unknown>): boolean => {
  if (!file.startsWith(`${name}.v`)) return false;
  const found = /^(\d+)\.jsonl$/.exec(file.slice(`${name}.v`.length))?.[1];
  return found !== undefined && Number(found) < version;
};

/** Zero for a file that another process has removed meanwhile. */
const ageOf = async (path: string): Promise<number> => {
  const found = await stat(path).catch(() => undefined);
  return found ? Date.now() - found.mtimeMs : 0;
};
