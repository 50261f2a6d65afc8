import { createHash, createHmac, randomUUID, timingSafeEqual } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { EpochMs } from "../../src/domain/time.ts";
import type { Projection } from "../projection.ts";
import type { Partition, Snapshot, SnapshotRange, SnapshotStore } from "./snapshot-store.ts";

/** Proves that this installation has written a snapshot of this log. */
export interface SnapshotProof {
  readonly logId: string;
  /**
   * Keys for HMAC-SHA-256. The first authenticates new snapshots; the others are earlier keys.
   */
  readonly keys: readonly [Buffer, ...Buffer[]];
}

/**
 * Stores snapshots as files: one for each projection and version, replaced atomically. A file that
 * was not written by this installation, or was changed, is ignored: the view in it could grant any
 * access.
 */
export const createSnapshotFiles = (directory: string, proof: SnapshotProof): SnapshotStore => ({
  save: async (projection, partitions, range) => {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const temporary = join(directory, `${temporaryPrefix(projection)}${randomUUID()}`);
    try {
      await write(
        temporary,
        serialize(partitions, range, (digest) => codeOf(projection, digest, proof)),
      );
      await rename(temporary, join(directory, fileName(projection)));
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    await removeObsolete(directory, projection);
  },
  load: async (projection) => {
    try {
      const text = createReadStream(join(directory, fileName(projection)), "utf8");
      return await parse(text, (digest, code) => isCodeOf(projection, digest, code, proof));
    } catch {
      return undefined;
    }
  },
});

/**
 * Removes the snapshots of these projections, of all versions and logs, that were written before
 * this time. Views are then folded again.
 */
export const removeSnapshots = async (
  directory: string,
  projections: readonly Pick<Projection<unknown>, "name">[],
  before: EpochMs,
): Promise<void> => {
  const files = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const { name, parentPath } of files.filter((file) => file.isFile())) {
    if (!projections.some((one) => name.replace(/^\./, "").startsWith(`${one.name}.v`))) continue;
    const path = join(parentPath, name);
    const { mtimeMs = before } = (await stat(path).catch(() => undefined)) ?? {};
    if (mtimeMs < before) await rm(path, { force: true });
  }
};

/**
 * The authentication code of a snapshot whose lines have this digest. It binds them to the
 * projection and its version.
 */
const codeOf = (
  { name, version }: Projection<unknown>,
  digest: string,
  { logId, keys: [key] }: SnapshotProof,
): Buffer =>
  createHmac("sha256", key)
    .update(JSON.stringify([logId, name, version, digest]))
    .digest();

const isCodeOf = (
  projection: Projection<unknown>,
  digest: string,
  code: Buffer,
  { logId, keys }: SnapshotProof,
): boolean =>
  keys.some((key) => {
    const expected = codeOf(projection, digest, { logId, keys: [key] });
    return code.length === expected.length && timingSafeEqual(code, expected);
  });

const fileName = ({ name, version }: Projection<unknown>): string => `${name}.v${version}.jsonl`;
const temporaryPrefix = (projection: Projection<unknown>): string => `.${fileName(projection)}.`;

const write = async (path: string, chunks: Iterable<string>): Promise<void> => {
  const file = await open(path, "wx", 0o600);
  try {
    for (const chunk of chunks) await file.writeFile(chunk);
    await file.sync();
  } finally {
    await file.close();
  }
};

/** Writing a snapshot never takes this long: an older temporary file is left from a crash. */
const orphanedMs = 3_600_000;

/**
 * Removes snapshots of older versions and orphaned temporary files. Snapshots of newer versions
 * stay for a rollback.
 */
const removeObsolete = async (directory: string, projection: Projection<unknown>): Promise<void> => {
  for (const file of await readdir(directory)) {
    const path = join(directory, file);
    const isOrphaned = file.startsWith(temporaryPrefix(projection)) && (await ageOf(path)) > orphanedMs;
    if (isOrphaned || isOlderVersion(file, projection)) await rm(path, { force: true });
  }
};

const isOlderVersion = (file: string, { name, version }: Projection<unknown>): boolean => {
  if (!file.startsWith(`${name}.v`)) return false;
  const found = /^(\d+)\.jsonl$/.exec(file.slice(`${name}.v`.length))?.[1];
  return found !== undefined && Number(found) < version;
};

/** Returns 0 for a file that another process has removed. */
const ageOf = async (path: string): Promise<number> => {
  const found = await stat(path).catch(() => undefined);
  return found ? Date.now() - found.mtimeMs : 0;
};

/**
 * The lines of a snapshot file: a header, the partitions, a footer, and the digest of all lines
 * before it with its authentication code.
 */
const checkpointSchema = z.object({ position: z.int().nonnegative(), id: z.string().min(1) });
const headerSchema = z.object({ from: checkpointSchema });
const partitionSchema = z.tuple([z.string(), z.int().nonnegative(), z.unknown()]);
const footerSchema = z.object({ upTo: checkpointSchema, count: z.int().nonnegative() });
const endSchema = z.object({ sha256: z.string(), hmac: z.string() });

/** Bounds the partitions that are serialized in one turn of the event loop. */
const partitionsPerChunk = 500;

/** The partitions may change between two chunks: each line carries its own position. */
function* serialize(
  partitions: ReadonlyMap<string, Partition>,
  range: () => SnapshotRange,
  codeOfDigest: (digest: string) => Buffer,
): Generator<string> {
  const hash = createHash("sha256");
  const hashed = (text: string): string => {
    hash.update(text);
    return text;
  };
  let lines = toLine({ from: range().allUpTo });
  let count = 0;
  for (const [name, { position, state }] of partitions) {
    lines += toLine([name, position, state]);
    if (++count % partitionsPerChunk !== 0) continue;
    yield hashed(lines);
    lines = "";
  }
  yield hashed(lines + toLine({ upTo: range().noneAfter, count }));
  const sha256 = hash.digest("hex");
  yield toLine({ sha256, hmac: codeOfDigest(sha256).toString("hex") });
}

/** @throws if the text is not a complete snapshot with its code */
const parse = async (
  text: AsyncIterable<string>,
  isCode: (digest: string, code: Buffer) => boolean,
): Promise<Snapshot> => {
  const hash = createHash("sha256");
  const partitions = new Map<string, Partition>();
  let range: Partial<SnapshotRange> = {};
  for await (const line of linesOf(text)) {
    const value: unknown = JSON.parse(line);
    const { allUpTo, noneAfter } = range;
    if (allUpTo && noneAfter) {
      const end = endSchema.parse(value);
      assertEqual(hash.digest("hex"), end.sha256);
      assertEqual(isCode(end.sha256, Buffer.from(end.hmac, "hex")), true);
      return { range: { allUpTo, noneAfter }, partitions };
    }
    hash.update(`${line}\n`);
    if (!allUpTo) range = { allUpTo: headerSchema.parse(value).from };
    else if (Array.isArray(value)) {
      const [name, position, state] = partitionSchema.parse(value);
      partitions.set(name, { position, state });
    } else {
      const footer = footerSchema.parse(value);
      assertEqual(footer.count, partitions.size);
      range = { allUpTo, noneAfter: footer.upTo };
    }
  }
  throw new Error("the snapshot is incomplete");
};

const toLine = (value: object): string => `${JSON.stringify(value)}\n`;

/**
 * Splits at line feeds only: JSON strings may contain other line separators, at which `readline`
 * would split.
 */
async function* linesOf(text: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of text) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

const assertEqual = (actual: unknown, expected: unknown): void => {
  if (actual !== expected) throw new Error("the snapshot is damaged");
};
