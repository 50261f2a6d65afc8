import { constants } from "node:fs";
import { chmod, copyFile, open, readdir, readFile, rename } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type CopiedAudio, copyAudio } from "../../application/backup/copy-audio.ts";
import { decryptKey } from "../../application/backup/encrypted-key.ts";
import { BadBackup, compareLog, type Manifest } from "../../application/backup/manifest.ts";
import type { AudioFiles } from "../../audio/store/audio-store.ts";
import { openFilesystemAudioStore } from "../../audio/store/filesystem/filesystem-audio-store.ts";
import { operator } from "../../cli/command.ts";
import type { RestoreBackup } from "../../cli/commands/backup.ts";
import { isOfType } from "../../domain/event-shapes.ts";
import { type LogEvent, logDecider, logStream } from "../../domain/log-format.ts";
import { type AudioEvent, audioStream } from "../../domain/synthesis/audio-events.ts";
import { pauseWebhooks, webhooksDecider, webhooksStream } from "../../domain/webhooks/webhooks.ts";
import type { EventStore, RecordedEvent } from "../../eventstore/event-store.ts";
import { exists } from "../../files/exists.ts";
import { verifyLog } from "../../ledger/proof/audit-verify.ts";
import { BadSetting, type Settings } from "../../settings/read-settings.ts";
import { openEventStore } from "../event-log/open-event-store.ts";
import { parseSealKeys, recordSealKeys } from "../event-log/seals.ts";
import { masterKeyIdOf, obtainMasterKey, writeMasterKey } from "../master-key.ts";
import { makePrivateDirectory } from "../private-directory.ts";
import { syncDirectory } from "../private-files.ts";
import { openAudioStore } from "../speech/audio-store.ts";
import { atPath, backupFiles, digestOf, readManifest } from "./backup.ts";
import { readLogFacts } from "./log-facts.ts";

/**
 * Restores a backup into empty directories. The log gets its name last: a restore that failed
 * leaves none.
 */
export const composeRestore =
  (readSettings: () => Settings, clock: () => number = Date.now): RestoreBackup =>
  async (directory, { hasAudio, readPassphrase }) => {
    const settings = readSettings();
    const { eventStore, dataDir } = settings;
    if (eventStore.kind !== "sqlite")
      throw new BadSetting("EVENT_STORE: a server's log is restored with the server's own tools");
    const manifest = await readManifest(directory);
    const restoresAudio = hasAudio && manifest.audio !== null;
    await requireEmpty(settings, eventStore.path, restoresAudio);
    const copy = await checkLog(settings, directory, manifest);
    const at = new Date(clock()).toISOString();
    if (at < manifest.takenAt)
      throw new Error(`the clock says ${at}, and the backup was taken at ${manifest.takenAt}: set the clock`);
    const key = await findKey(settings, directory, manifest, readPassphrase);

    await makePrivateDirectory(dataDir);
    await makePrivateDirectory(dirname(eventStore.path));
    const draft = draftOf(eventStore.path);
    await copyDurably(copy, draft);
    const recorded = await recordRestore(atPath(settings, draft), manifest, at);
    const audio = restoresAudio ? await restoreAudio(settings, directory, recorded.deleted) : undefined;
    await recordSealKeys(dataDir, manifest.sealKeys);
    if (key.decrypted) await writeMasterKey(dataDir, key.decrypted);
    await rename(draft, eventStore.path);
    await syncDirectory(dirname(eventStore.path));
    const found = audio ? audio.objects + audio.excluded : 0;
    const missingAudio = audio ? Math.max(0, (manifest.audio?.objects ?? 0) - found) : 0;
    return { manifest, audio, missingAudio, pausedWebhooks: recorded.paused, hasMasterKey: key.isKnown };
  };

const draftOf = (path: string): string => `${path}.restoring`;

/** The master key must be put into the empty directory if the backup lacks it. */
const allowedNames = ["master.key", "lost+found"];

/** @throws if something is where the backup is to be restored */
const requireEmpty = async (
  { dataDir, audioStore }: Settings,
  logPath: string,
  restoresAudio: boolean,
): Promise<void> => {
  const refuse = (path: string): never => {
    throw new Error(`${path} exists: a backup is restored only into an empty DATA_DIR; move it away first`);
  };
  for (const path of [logPath, `${logPath}-wal`, draftOf(logPath)]) if (await exists(path)) refuse(path);
  const keptAudio = !restoresAudio && audioStore.kind === "file" ? resolve(audioStore.path) : undefined;
  for (const name of await namesIn(dataDir)) {
    const path = resolve(dataDir, name);
    if (!allowedNames.includes(name) && path !== keptAudio) refuse(path);
  }
  if (!restoresAudio || audioStore.kind !== "file") return;
  for (const name of await namesIn(audioStore.path))
    if (!allowedNames.includes(name)) refuse(resolve(audioStore.path, name));
};

const namesIn = (path: string): Promise<string[]> =>
  readdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });

/**
 * Verifies the log of the backup as `audit verify` does, and compares it with the manifest. Returns
 * its path.
 * @throws {BadBackup} {NotGenuine} {BadSetting}
 */
const checkLog = async (settings: Settings, directory: string, manifest: Manifest): Promise<string> => {
  const { log, sealKeys, newestSeal, streamPrefix } = manifest;
  if (!log) throw new BadBackup("the backup has no log: it is one of an event store that is a server");
  if (settings.streamPrefix !== streamPrefix)
    throw new BadSetting(`STREAM_PREFIX: the log of the backup has the prefix "${streamPrefix}"`);
  const path = join(directory, log.file);
  const found = await digestOf(path).catch((cause: NodeJS.ErrnoException) => {
    throw new BadBackup(`${log.file} cannot be read: ${cause.code}`, { cause });
  });
  if (found.sha256 !== log.sha256 || found.bytes !== log.bytes)
    throw new BadBackup(
      `${log.file} was changed after the backup: its digest is not the one of manifest.json`,
    );
  const keys = parseSealKeys(sealKeys);
  const check = (events: EventStore) => (newestSeal ? verifyLog(events, { keys }) : events.checkIntegrity());
  compareLog(manifest, await readLogFacts(atPath(settings, path), check));
  return path;
};

interface FoundKey {
  /** False if nothing has the master key yet: the service will not start without it. */
  readonly isKnown: boolean;
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
  { masterKeyId }: Manifest,
  readPassphrase: () => Promise<string>,
): Promise<FoundKey> => {
  if (masterKeyId === null) return { isKnown: true };
  if (settings.masterKey || (await exists(join(settings.dataDir, "master.key")))) {
    const keys = [await obtainMasterKey(settings, { mayCreate: false }), ...settings.previousMasterKeys];
    const ids = keys.map(masterKeyIdOf);
    if (ids.includes(masterKeyId)) return { isKnown: true };
    throw new BadSetting(`MASTER_KEY: this key is ${ids[0]}, the one of the backup's log is ${masterKeyId}`);
  }
  const path = join(directory, backupFiles.masterKey);
  if (!(await exists(path))) return { isKnown: false };
  const decrypted = await decryptKey(await readFile(path, "utf8"), await readPassphrase());
  const id = masterKeyIdOf(decrypted);
  if (id === masterKeyId) return { isKnown: true, decrypted };
  throw new BadBackup(`${backupFiles.masterKey} has the key ${id}, the log's is ${masterKeyId}`);
};

const copyDurably = async (from: string, to: string): Promise<void> => {
  await copyFile(from, to, constants.COPYFILE_EXCL);
  await chmod(to, 0o600);
  await using file = await open(to, "r+");
  await file.sync();
};

/** Records the restore in the restored log, before any process uses it. */
const recordRestore = async (settings: Settings, { position, takenAt, newestSeal }: Manifest, at: string) => {
  const options = { clock: () => Date.parse(at), readOnly: false };
  const { events, startHandler } = await openEventStore(settings, options);
  try {
    const seal = newestSeal && { seal: newestSeal.note };
    const restored: LogEvent = { type: "LogRestored", data: { position, takenAt, ...seal, at } };
    await startHandler.execute(logDecider, logStream, () => [restored], operator);
    const pause = (webhooks: Parameters<typeof pauseWebhooks>[0]) => pauseWebhooks(webhooks, at);
    const paused = await startHandler.execute(webhooksDecider, webhooksStream, pause, operator);
    return { paused: paused.events.length, deleted: await readDeleted(events) };
  } finally {
    await events.close();
  }
};

/** The times at which operators have deleted audio, by its hash. */
const readDeleted = async (events: EventStore): Promise<ReadonlyMap<string, number>> => {
  const deleted = new Map<string, number>();
  for await (const event of events.readStream(audioStream)) {
    if (!isOfType<AudioEvent, RecordedEvent>(event, ["AudioDeleted"])) continue;
    deleted.set(event.data.hash, Date.parse(event.data.at));
  }
  return deleted;
};

/** Audio that was deleted after it was copied stays deleted. */
const restoreAudio = async (
  settings: Settings,
  directory: string,
  deleted: ReadonlyMap<string, number>,
): Promise<CopiedAudio> => {
  await using opened = new AsyncDisposableStack();
  const from = await openFilesystemAudioStore({ path: join(directory, backupFiles.audio) });
  opened.defer(from.close);
  const to = await openAudioStore(settings, () => {});
  opened.defer(to.close);
  const isExcluded = ({ hash, usedAt }: AudioFiles) => usedAt <= (deleted.get(hash) ?? 0);
  return await copyAudio(from, to, { signal: new AbortController().signal, isExcluded });
};
