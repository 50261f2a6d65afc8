import { constants } from "node:fs";
import { chmod, copyFile, open, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { decryptKey } from "../../../application/backup/encrypted-key.ts";
import { BadBackup, compareLog, type Manifest } from "../../../application/backup/manifest.ts";
import type { RestoreBackup, RestoreOptions } from "../../../cli/commands/backup.ts";
import { exists } from "../../../files/exists.ts";
import { readSha256 } from "../../../files/file-digests.ts";
import { BadSetting, type Settings } from "../../../settings/read-settings.ts";
import { type MasterKeys, masterKeyIdOf, obtainMasterKeys } from "../../master-key.ts";
import { sharedPaths } from "../../private-directory.ts";
import { readListFile, refuseLink, refuseLinks } from "./audio-folder.ts";
import { audioOf, readManifest, requireApart } from "./backup-folder.ts";
import { openTarget } from "./restore-target.ts";
import { checkLog, compareRestoredLog, recordRestore } from "./restored-log.ts";

/**
 * Restores a backup into empty directories. All is written beside its place, checked, and moved
 * there at the end, the log last: a restore that fails removes what it has made.
 */
export const composeRestore =
  (readSettings: () => Settings, clock: () => number = Date.now): RestoreBackup =>
  async (directory, options) => {
    const { hasAudio, isLogRestored, keys: given, withoutKey, withoutSeal, readPassphrase, signal } = options;
    const settings = readSettings();
    if (settings.eventStore.kind !== "sqlite" && !isLogRestored)
      throw new BadSetting(
        "EVENT_STORE: a server's log is restored with the server's own tools; then repeat this command with --log-restored",
      );
    const manifest = await readManifest(directory);
    await requireApart(directory, settings);
    if (settings.streamPrefix !== manifest.streamPrefix)
      throw new BadSetting(`STREAM_PREFIX: the log of the backup has the prefix "${manifest.streamPrefix}"`);
    const at = new Date(clock()).toISOString();
    if (at < manifest.takenAt)
      throw new Error(`the clock says ${at}, and the backup was taken at ${manifest.takenAt}: set the clock`);
    const { masterKeys, decrypted } = await findKey(settings, directory, {
      manifest,
      isLogRestored,
      withoutKey,
      readPassphrase,
    });
    const audio = hasAudio ? await openAudio(directory, manifest, signal) : undefined;

    await using target = await openTarget(settings, {
      hasLog: !isLogRestored,
      hasAudio: audio !== undefined,
    });
    const staged = isLogRestored ? settings : await copyLog(directory, manifest, target.staged());
    const log = await checkLog(staged, manifest, { masterKeys, given, withoutKey, withoutSeal });
    if (isLogRestored) compareRestoredLog(manifest, log, withoutKey ? masterKeys : undefined);
    else compareLog(manifest, log.facts);
    const { deletions } = log;
    const restoredAudio = audio && (await target.restoreAudio(audio, { deletions, signal }));
    signal.throwIfAborted();
    // A log in its place is changed last.
    if (isLogRestored) await target.publish(decrypted);
    const recorded = await recordRestore(staged, { manifest, log, masterKeys, at });
    if (!isLogRestored) await target.publish(decrypted);
    return {
      manifest,
      log: log.verified,
      audio: restoredAudio,
      pausedWebhooks: recorded.pausedWebhooks,
      // A log without a master key has no seals.
      isSealed: recorded.isSealed || manifest.masterKeyId === null,
      hasMasterKey: masterKeys !== undefined || manifest.masterKeyId === null,
      warnings: await sharedPaths([directory]),
    };
  };

/** Copies the log of the backup, and returns the settings of the copy, which is not published. */
const copyLog = async (directory: string, { log }: Manifest, staged: Settings): Promise<Settings> => {
  if (!log) throw new BadBackup("the backup has no log: it is one of an event store that is a server");
  const { eventStore } = staged;
  if (eventStore.kind !== "sqlite") return staged;
  const copy = eventStore.path;
  await copyFile(join(directory, log.file), copy, constants.COPYFILE_EXCL).catch(
    (cause: NodeJS.ErrnoException) => {
      throw new BadBackup(`${log.file} cannot be copied: ${cause.code}`, { cause });
    },
  );
  await chmod(copy, 0o600);
  const { size } = await stat(copy);
  if (size !== log.bytes || (await readSha256(copy)) !== log.sha256)
    throw new BadBackup(
      `${log.file} was changed after the backup: its digest is not the one of manifest.json`,
    );
  await using file = await open(copy, "r+");
  await file.sync();
  return staged;
};

/** Returns undefined if the backup has no audio. */
const openAudio = async (directory: string, { audio }: Manifest, signal: AbortSignal) => {
  if (!audio) return undefined;
  const folder = audioOf(directory);
  await refuseLink(folder);
  await refuseLinks(folder, signal);
  const path = join(directory, audio.file);
  const sha256 = await readSha256(path).catch((cause: NodeJS.ErrnoException) => {
    throw new BadBackup(`${audio.file} cannot be read: ${cause.code}`, { cause });
  });
  if (sha256 !== audio.sha256)
    throw new BadBackup(
      `${audio.file} was changed after the backup: restore without the audio by --no-audio`,
    );
  return { folder, list: () => readListFile(path) };
};

interface FoundKey {
  /** Undefined if nothing has the log's master key. */
  readonly masterKeys: MasterKeys | undefined;
  /** The key of the backup, which is to be written. */
  readonly decrypted?: Buffer;
}

/**
 * Finds the log's master key: in the settings, in DATA_DIR, or in the backup. Never creates one.
 * @throws {BadSetting} if the settings or DATA_DIR have another key
 * @throws {BadBackup}
 */
const findKey = async (
  settings: Settings,
  directory: string,
  {
    manifest: { masterKeyId, masterKey },
    isLogRestored,
    withoutKey,
    readPassphrase,
  }: { readonly manifest: Manifest } & Pick<
    RestoreOptions,
    "isLogRestored" | "withoutKey" | "readPassphrase"
  >,
): Promise<FoundKey> => {
  if (masterKeyId === null) return { masterKeys: undefined };
  if (settings.masterKey || (await exists(join(settings.dataDir, "master.key")))) {
    const masterKeys = await obtainMasterKeys(settings, { mayCreate: false });
    const ids = masterKeys.map(masterKeyIdOf);
    // The key of a log in its place may have been replaced after the backup.
    if (ids.includes(masterKeyId) || (isLogRestored && withoutKey)) return { masterKeys };
    throw new BadSetting(
      `MASTER_KEY: this key is ${ids[0]}, the one of the backup's log is ${masterKeyId}: set that one, or name it in MASTER_KEY_PREVIOUS`,
    );
  }
  if (!masterKey) {
    if (withoutKey) return { masterKeys: undefined };
    throw new BadBackup(
      `the backup lacks the log's master key, ${masterKeyId}: put it into DATA_DIR/master.key, set MASTER_KEY, or restore without it by --without-key`,
    );
  }
  const text = await readFile(join(directory, masterKey.file), "utf8").catch(
    (cause: NodeJS.ErrnoException) => {
      throw new BadBackup(`${masterKey.file} cannot be read: ${cause.code}`, { cause });
    },
  );
  const decrypted = await decryptKey(text, await readPassphrase());
  const id = masterKeyIdOf(decrypted);
  if (id === masterKeyId) return { masterKeys: [decrypted], decrypted };
  throw new BadBackup(`${masterKey.file} has the key ${id}, the log's is ${masterKeyId}`);
};
