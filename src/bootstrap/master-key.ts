import { hkdfSync, randomBytes, randomUUID } from "node:crypto";
import { link, open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { BadSetting, type Settings, withSettingName } from "../settings.ts";
import { makePrivateDirectory } from "./private-directory.ts";

const bytes = 32;

type KeySettings = Pick<Settings, "masterKey" | "dataDir" | "eventStore">;

/**
 * The key that all others are derived from: the one that is set, or else the one in DATA_DIR, which the first process makes.
 * @throws {BadSetting} when it cannot be read or is damaged, or must be set because instances with other folders share the log
 */
export const obtainMasterKey = async ({ masterKey, dataDir, eventStore }: KeySettings): Promise<Buffer> => {
  if (masterKey) return masterKey;
  if (eventStore.kind === "esdb") {
    throw new BadSetting(
      "MASTER_KEY: must be set, the same for all instances, when EVENT_STORE is EventStoreDB",
    );
  }
  return await withSettingName("DATA_DIR", readOrMake(dataDir));
};

const readOrMake = async (dataDir: string): Promise<Buffer> => {
  const path = join(dataDir, "master.key");
  return (await read(path)) ?? (await make(dataDir, path));
};

/** The master key, then those before it, which nothing new rests on. @throws as `obtainMasterKey` does */
export const obtainMasterKeys = async (
  settings: KeySettings & Pick<Settings, "previousMasterKeys">,
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
  if (key.length !== bytes) throw new Error("master.key is not a key of 32 bytes in base64");
  return key;
};

/**
 * A link is made by one process alone, and to a file that is whole: those who come second read the first one's key.
 */
const make = async (dataDir: string, path: string): Promise<Buffer> => {
  await makePrivateDirectory(dataDir);
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
  if (!key) throw new Error("master.key was removed while it was made");
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
