import { hkdfSync, randomBytes, randomUUID } from "node:crypto";
import { link, readdir, readFile, rm } from "node:fs/promises";
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
import type { SqliteThreads } from "../eventstore/sqlite/threads.ts";
import { exists } from "../files/exists.ts";
import { BadSetting, type Settings, withSettingName } from "../settings/read-settings.ts";
import { isSharedByMachines } from "../settings/schemas.ts";
import { openEventStore } from "./event-log/open-event-store.ts";
import { makePrivateDirectory } from "./private-directory.ts";
import { createPrivateFile, syncDirectory } from "./private-files.ts";

const bytes = 32;

type KeySettings = Pick<
  Settings,
  "masterKey" | "previousMasterKeys" | "dataDir" | "eventStore" | "streamPrefix"
>;

interface ObtainOptions {
  /** If false, a key that is missing in DATA_DIR is not created. Default: true. */
  readonly mayCreate?: boolean;
  /** If true, a key is created although the log records another one, which is lost. */
  readonly isRecordedKeyLost?: boolean;
  /** The threads of the embedded event store, if they have been started. They are not closed. */
  readonly threads?: SqliteThreads | undefined;
}

/**
 * The key that all others are derived from: MASTER_KEY, or else the one in DATA_DIR, which the
 * first process of a new log creates.
 * @throws {BadSetting} if it is unreadable, damaged or missing, or unset although instances with
 * other directories share the log
 */
export const obtainMasterKey = async (
  settings: KeySettings,
  options: ObtainOptions = {},
): Promise<Buffer> => {
  const { masterKey, eventStore } = settings;
  if (masterKey) return masterKey;
  if (isSharedByMachines(eventStore)) {
    throw new BadSetting(
      "MASTER_KEY: must be set, the same for all instances, when EVENT_STORE is EventStoreDB",
    );
  }
  return await withSettingName("DATA_DIR", readOrCreate(settings, options));
};

const readOrCreate = async (
  settings: KeySettings,
  { mayCreate = true, isRecordedKeyLost = false, threads }: ObtainOptions,
): Promise<Buffer> => {
  const { dataDir } = settings;
  const key = await readMasterKey(dataDir);
  if (key) {
    await removeDrafts(dataDir);
    return key;
  }
  if (!mayCreate) throw new Error("it has no master.key");
  const lost = isRecordedKeyLost ? undefined : await findLostKey(settings, threads);
  if (lost === undefined) return await create(dataDir);
  // Another process may have created the key meanwhile, and recorded it.
  const created = await readMasterKey(dataDir);
  if (created) return created;
  throw new Error(
    `it has no master.key, and the log's master key is ${lost}: put that key there, or set MASTER_KEY. If it is lost, see docs/operate/master-key.md`,
  );
};

/**
 * Returns the id of the master key that the log records, if none of the previous keys is this one:
 * a new key could decrypt nothing, and must not be created beside the log.
 */
const findLostKey = async (
  settings: KeySettings,
  threads: SqliteThreads | undefined,
): Promise<string | undefined> => {
  const { eventStore, previousMasterKeys } = settings;
  if (eventStore.kind !== "sqlite" || !(await exists(eventStore.path))) return undefined;
  // A process that starts at the same time may have created the file, and no tables yet.
  const options = { clock: Date.now, readOnly: false, threads };
  const { events, startHandler } = await openEventStore(settings, options);
  try {
    const { masterKeyId } = await readInstallationKeys(startHandler);
    const isKnown = masterKeyId === undefined || previousMasterKeys.map(masterKeyIdOf).includes(masterKeyId);
    return isKnown ? undefined : masterKeyId;
  } finally {
    if (!threads) await events.close();
  }
};

/** Reads which keys the log records. */
export const readInstallationKeys = async (handler: CommandHandler): Promise<InstallationKeys> => {
  const { state } = await handler.execute(masterKeyDecider, masterKeyStream, () => [], { actor: "system" });
  return state;
};

/**
 * The ids of the master keys that exist, beginning with the current one. Creates none.
 * @throws {BadSetting}
 */
export const existingKeyIds = async (settings: KeySettings): Promise<readonly string[]> => {
  const { masterKey, eventStore, dataDir, previousMasterKeys } = settings;
  const given = masterKey || isSharedByMachines(eventStore) ? [await obtainMasterKey(settings)] : [];
  // The recorded key may still be there, although MASTER_KEY is another one.
  const stored = await withSettingName("DATA_DIR", readMasterKey(dataDir));
  return [...given, ...(stored ? [stored] : []), ...previousMasterKeys].map(masterKeyIdOf);
};

/** The id by which the log records a master key. */
export const masterKeyIdOf = (key: Buffer): string =>
  createCredentialsCipher({ keys: deriveKeys([key], "credentials"), random: randomBytes }).keyId;

/**
 * The master key, then the previous ones, which nothing new is encrypted or signed with.
 * @throws {BadSetting}
 */
export const obtainMasterKeys = async (
  settings: KeySettings,
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

const pathOf = (dataDir: string): string => join(dataDir, "master.key");

/**
 * Returns the key in DATA_DIR/master.key; undefined if there is no such file.
 * @throws if it is unreadable or damaged
 */
const readMasterKey = async (dataDir: string): Promise<Buffer | undefined> => {
  const text = await readFile(pathOf(dataDir), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const key = Buffer.from(text, "base64");
  if (key.length !== bytes) {
    throw new Error(
      "master.key is not a key of 32 bytes in base64: restore it. If it is lost, see docs/operate/master-key.md",
    );
  }
  return key;
};

/** Creates the key, unless another process has done so. */
const create = async (dataDir: string): Promise<Buffer> => {
  await writeMasterKey(dataDir, randomBytes(bytes));
  const key = await readMasterKey(dataDir);
  if (!key) throw new Error("master.key was removed while it was created");
  return key;
};

/**
 * Writes DATA_DIR/master.key, unless it exists: `link` succeeds in one process only and publishes a
 * complete file. All other processes read that key. A killed process may leave its draft.
 */
export const writeMasterKey = async (dataDir: string, key: Buffer): Promise<void> => {
  await makePrivateDirectory(dataDir);
  const draft = `${pathOf(dataDir)}.${randomUUID()}`;
  try {
    await createPrivateFile(draft, `${key.toString("base64")}\n`);
    await link(draft, pathOf(dataDir)).catch((error: NodeJS.ErrnoException) => {
      // ENOENT: another process has removed the draft, because the key exists.
      if (error.code !== "EEXIST" && error.code !== "ENOENT") throw error;
    });
    await syncDirectory(dataDir);
  } finally {
    await rm(draft, { force: true });
  }
};

const draftName = /^master\.key\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Removes what killed processes have left of `writeMasterKey`. Once the key exists, no process
 * needs a draft: one that writes its own now reads the key in the end.
 */
const removeDrafts = async (dataDir: string): Promise<void> => {
  // A process that may only read the key leaves them.
  const names = await readdir(dataDir).catch(() => []);
  for (const name of names.filter((name) => draftName.test(name)))
    await rm(join(dataDir, name), { force: true }).catch(() => {});
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
