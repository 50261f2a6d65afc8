import { hkdfSync, randomBytes, randomUUID } from "node:crypto";
import { link, open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import {
  type CredentialsCipher,
  createCredentialsCipher,
  DecryptionFailed,
} from "../application/accounts/credentials-cipher.ts";
import { type NamingKey, obtainNamingKey } from "../application/accounts/naming-key.ts";
import { lazy } from "../async/lazy.ts";
import {
  type InstallationKeys,
  masterKeyDecider,
  masterKeyStream,
  recognizeMasterKey,
  UnknownMasterKey,
} from "../domain/accounts/master-key.ts";
import type { EpochMs } from "../domain/time.ts";
import type { CommandHandler } from "../eventstore/command-handler.ts";
import { BadSetting, type Settings, withSettingName } from "../settings/read-settings.ts";
import { isSharedByMachines } from "../settings/schemas.ts";
import { makePrivateDirectory } from "./private-directory.ts";

const bytes = 32;

type KeySettings = Pick<Settings, "masterKey" | "dataDir" | "eventStore">;

interface ObtainOptions {
  /** If false, a key that is missing in DATA_DIR is not created. Default: true. */
  readonly mayCreate?: boolean;
}

/**
 * The key that all others are derived from: MASTER_KEY, or else the one in DATA_DIR, which the
 * first process creates.
 * @throws {BadSetting} if it is unreadable, damaged or missing, or unset although instances with
 * other directories share the log
 */
export const obtainMasterKey = async (
  { masterKey, dataDir, eventStore }: KeySettings,
  { mayCreate = true }: ObtainOptions = {},
): Promise<Buffer> => {
  if (masterKey) return masterKey;
  if (isSharedByMachines(eventStore)) {
    throw new BadSetting(
      "MASTER_KEY: must be set, the same for all instances, when EVENT_STORE is EventStoreDB",
    );
  }
  return await withSettingName("DATA_DIR", readOrCreate(dataDir, mayCreate));
};

const readOrCreate = async (dataDir: string, mayCreate: boolean): Promise<Buffer> => {
  const path = join(dataDir, "master.key");
  const key = await read(path);
  if (key) return key;
  if (!mayCreate) throw new Error("it has no master.key");
  return await create(dataDir, path);
};

/**
 * The master key, then the previous ones, which nothing new is encrypted or signed with.
 * @throws {BadSetting}
 */
export const obtainMasterKeys = async (
  settings: KeySettings & Pick<Settings, "previousMasterKeys">,
  options?: ObtainOptions,
): Promise<MasterKeys> => [await obtainMasterKey(settings, options), ...settings.previousMasterKeys];

/** The current key comes first. */
export type MasterKeys = readonly [Buffer, ...Buffer[]];

/** The keys derived from the master keys, in the same order. */
export const deriveKeys = ([current, ...previous]: MasterKeys, purpose: string): MasterKeys => [
  deriveKey(current, purpose),
  ...previous.map((key) => deriveKey(key, purpose)),
];

/**
 * Derives a 32-byte key for one purpose. Keys for different purposes are independent (HKDF, RFC
 * 5869).
 */
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
 * `link` succeeds in one process only and publishes a complete file. All other processes read that
 * key.
 */
const create = async (dataDir: string, path: string): Promise<Buffer> => {
  await makePrivateDirectory(dataDir);
  const draft = `${path}.${randomUUID()}`;
  try {
    await writeDurably(draft, `${randomBytes(bytes).toString("base64")}\n`);
    await link(draft, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
    await syncDirectory(dataDir);
  } finally {
    await rm(draft, { force: true });
  }
  const key = await read(path);
  if (!key) throw new Error("master.key was removed while it was created");
  return key;
};

const writeDurably = async (path: string, text: string): Promise<void> => {
  await using file = await open(path, "wx", 0o600);
  await file.writeFile(text);
  await file.sync();
};

const syncDirectory = async (path: string): Promise<void> => {
  await using directory = await open(path, "r");
  await directory.sync();
};

/**
 * The key under which audio is named.
 * @throws {BadSetting} if none of the master keys opens it
 */
export const openNamingKey = async (
  handler: CommandHandler,
  cipher: CredentialsCipher,
  clock: () => EpochMs,
): Promise<NamingKey> => {
  const at = new Date(clock()).toISOString();
  try {
    return await obtainNamingKey({ handler, cipher, random: randomBytes, at });
  } catch (error) {
    if (!(error instanceof DecryptionFailed)) throw error;
    throw new BadSetting(
      `MASTER_KEY: the key that audio is named with cannot be opened: name its master key in MASTER_KEY_PREVIOUS (${error.message})`,
      { cause: error },
    );
  }
};

/**
 * Loads the keys at the first call and checks them against the log.
 * @throws {BadSetting} (asynchronously) if the master key is not the recorded one
 */
export const createLazyCipher = (
  settings: Settings,
  handler: CommandHandler,
  clock: () => EpochMs,
  options?: ObtainOptions,
): (() => Promise<CredentialsCipher>) =>
  lazy(async () => {
    const keys = deriveKeys(await obtainMasterKeys(settings, options), "credentials");
    const opened = createCredentialsCipher({ keys, random: randomBytes });
    const at = new Date(clock()).toISOString();
    const recognize = (keys: InstallationKeys) => recognizeMasterKey(keys, opened.keyIds, at);
    try {
      await handler.execute(masterKeyDecider, masterKeyStream, recognize, { actor: "system" });
    } catch (error) {
      if (error instanceof UnknownMasterKey) throw new BadSetting(`MASTER_KEY: ${error.message}`);
      throw error;
    }
    return opened;
  });
