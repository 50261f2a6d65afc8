import { hkdfSync, randomBytes, randomUUID } from "node:crypto";
import { link, mkdir, open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Settings } from "./settings.ts";

const bytes = 32;

/**
 * The key that all others are derived from: as it is set, or else the one that is kept in DATA_DIR, made by whichever
 * process comes first.
 * @throws when it cannot be read, or is damaged
 */
export const obtainMasterKey = async ({
  masterKey,
  dataDir,
}: Pick<Settings, "masterKey" | "dataDir">): Promise<Buffer> => {
  if (masterKey) return masterKey;
  const path = join(dataDir, "master.key");
  return (await read(path)) ?? (await make(dataDir, path));
};

/** The master key, then those before it, which nothing new rests on. @throws as `obtainMasterKey` does */
export const obtainMasterKeys = async (
  settings: Pick<Settings, "masterKey" | "previousMasterKeys" | "dataDir">,
): Promise<MasterKeys> => [await obtainMasterKey(settings), ...settings.previousMasterKeys];

/** The one in use is the first. */
export type MasterKeys = readonly [Buffer, ...Buffer[]];

/** For each master key the one that is derived from it, in the same order. */
export const deriveKeys = ([current, ...previous]: MasterKeys, purpose: string): MasterKeys => [
  deriveKey(current, purpose),
  ...previous.map((key) => deriveKey(key, purpose)),
];

/** A key of 32 bytes for one purpose; keys for different purposes tell nothing of each other (HKDF, RFC 5869). */
export const deriveKey = (masterKey: Buffer, purpose: string): Buffer =>
  Buffer.from(hkdfSync("sha256", masterKey, "", `voxledger ${purpose}`, bytes));

const read = async (path: string): Promise<Buffer | undefined> => {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const key = Buffer.from(text, "base64");
  if (key.length !== bytes) throw new Error("master.key in DATA_DIR is not a key of 32 bytes in base64");
  return key;
};

/**
 * A link is made by one process alone, and to a file that is whole: those who come second read the first one's key.
 */
const make = async (dataDir: string, path: string): Promise<Buffer> => {
  await mkdir(dataDir, { recursive: true });
  const draft = `${path}.${randomUUID()}`;
  try {
    await writeDurably(draft, `${randomBytes(bytes).toString("base64")}\n`);
    await link(draft, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
    await syncFolder(dataDir);
  } finally {
    await rm(draft, { force: true });
  }
  const key = await read(path);
  if (!key) throw new Error("master.key was removed from DATA_DIR while it was made");
  return key;
};

const writeDurably = async (path: string, text: string): Promise<void> => {
  await using file = await open(path, "wx", 0o600);
  await file.writeFile(text);
  await file.sync();
};

const syncFolder = async (path: string): Promise<void> => {
  await using folder = await open(path, "r");
  await folder.sync();
};
