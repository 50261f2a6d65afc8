import { createReadStream } from "node:fs";
import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Projection } from "./projection.ts";

/** One partition's state and the position of the last event that it holds. */
export interface Partition {
  position: number;
  state: unknown;
}

/** A projection as of a position; a partition may be ahead of it, and tells so. */
export interface Snapshot {
  readonly position: number;
  readonly partitions: Map<string, Partition>;
}

export interface SnapshotStore {
  /** Writes the snapshot, whole or not at all. The partitions may go on changing while it is written. */
  save(projection: Projection<unknown>, snapshot: Snapshot): Promise<void>;
  /** The newest whole snapshot of this version of the projection, or undefined: then the log is told from zero. */
  load(projection: Projection<unknown>): Promise<Snapshot | undefined>;
}

export const noSnapshots: SnapshotStore = {
  save: async () => {},
  load: async () => undefined,
};

/** Partitions written between two turns of the event loop. */
const chunk = 500;

/**
 * Snapshots as files of JSON lines: a head with the position, a line for each partition, an end with their number.
 * `folder` must belong to one log alone: a snapshot says nothing about another.
 */
export const snapshotFiles = (folder: string): SnapshotStore => ({
  save: async (projection, { position, partitions }) => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const temporary = join(folder, `.${fileOf(projection)}.${process.pid}`);
    const file = await open(temporary, "w", 0o600);
    try {
      let lines = `${JSON.stringify({ position })}\n`;
      let count = 0;
      for (const [name, { position: at, state }] of partitions) {
        lines += `${JSON.stringify([name, at, state])}\n`;
        if (++count % chunk !== 0) continue;
        await file.write(lines);
        lines = "";
      }
      await file.write(`${lines}${JSON.stringify({ end: count })}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, join(folder, fileOf(projection)));
    await removeOlder(folder, projection);
  },
  load: async (projection) => {
    try {
      return await parse(createInterface({ input: createReadStream(join(folder, fileOf(projection))) }));
    } catch {
      return undefined;
    }
  },
});

const fileOf = ({ name, version }: Projection<unknown>): string => `${name}.v${version}.jsonl`;

/** Reads a whole snapshot; throws on anything that is not one. */
const parse = async (lines: AsyncIterable<string>): Promise<Snapshot> => {
  let position: number | undefined;
  const partitions = new Map<string, Partition>();
  for await (const line of lines) {
    const value = JSON.parse(line);
    if (position === undefined) position = value.position as number;
    else if (Array.isArray(value)) partitions.set(value[0], { position: value[1], state: value[2] });
    else if (value.end === partitions.size) return { position, partitions };
  }
  throw new Error("the snapshot has no end");
};

const removeOlder = async (folder: string, projection: Projection<unknown>): Promise<void> => {
  const files = await readdir(folder);
  const older = files.filter(
    (file) => file.startsWith(`${projection.name}.v`) && file !== fileOf(projection),
  );
  await Promise.all(older.map((file) => rm(join(folder, file), { force: true })));
};
