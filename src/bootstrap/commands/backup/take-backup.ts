import { stat } from "node:fs/promises";
import packageJson from "../../../../package.json" with { type: "json" };
import { type Deletions, isDeleted } from "../../../application/backup/audio-list.ts";
import { type CopiedAudio, copyAudio } from "../../../application/backup/copy-audio.ts";
import { encryptKey } from "../../../application/backup/encrypted-key.ts";
import { BadBackup, type Manifest } from "../../../application/backup/manifest.ts";
import { hashInName } from "../../../audio/store/audio-store.ts";
import { openFilesystemAudioStore } from "../../../audio/store/filesystem/filesystem-audio-store.ts";
import type { TakeBackup } from "../../../cli/commands/backup.ts";
import type { EventStore } from "../../../eventstore/event-store.ts";
import { copyDatabase } from "../../../eventstore/sqlite/copy-database.ts";
import { exists } from "../../../files/exists.ts";
import { readSha256 } from "../../../files/file-digests.ts";
import { realPath } from "../../../files/real-path.ts";
import { type Settings, withSettingName } from "../../../settings/read-settings.ts";
import { withoutSecrets } from "../../../settings/without-secrets.ts";
import { readSealKeyLines } from "../../event-log/seals.ts";
import { masterKeyIdOf, obtainMasterKey } from "../../master-key.ts";
import { sharedPaths } from "../../private-directory.ts";
import { createPrivateFile } from "../../private-files.ts";
import { createListFile, readListFile, refuseLink, refuseLinks } from "./audio-folder.ts";
import { openBackupFolder, requireApart } from "./backup-folder.ts";
import { readDeletions, readLogFacts } from "./log-facts.ts";

type Folder = Awaited<ReturnType<typeof openBackupFolder>>;

/**
 * Takes a backup while the service runs. The directory may hold an earlier backup of the same log,
 * which stays valid until the new manifest replaces its own.
 */
export const composeBackup =
  (
    readSettings: () => Settings,
    env: Readonly<Record<string, string | undefined>>,
    clock: () => number = Date.now,
  ): TakeBackup =>
  async (directory, { hasAudio, verifies, readPassphrase, signal }) => {
    const settings = readSettings();
    await requireApart(directory, settings);
    const takenAt = new Date(clock()).toISOString();
    await using opened = new AsyncDisposableStack();
    const folder = await openBackupFolder(directory, takenAt);
    opened.defer(folder.close);

    const log = await copyLog(settings, folder);
    const copied = log ? atPath(settings, folder.draftOf(log.file)) : settings;
    const readCopy = async (events: EventStore): Promise<Deletions> => {
      if (log) await events.checkIntegrity();
      return await readDeletions(events);
    };
    const { facts, result: deletions } = await readLogFacts(copied, readCopy);
    if (folder.previous && folder.previous.logId !== facts.logId)
      throw new BadBackup(`${directory} holds a backup of another log: name another directory`);
    const key = readPassphrase && (await backUpKey(settings, folder, facts.masterKeyId, readPassphrase));
    // The log is copied first, so that the audio is not older.
    const audio = hasAudio ? await backUpAudio(settings, folder, { deletions, verifies, signal }) : undefined;
    const { settings: given, withheld } = withoutSecrets(env);
    const manifest: Manifest = {
      format: 1,
      version: packageJson.version,
      takenAt,
      streamPrefix: settings.streamPrefix,
      ...facts,
      log,
      masterKey: key ? { file: key.file } : null,
      sealKeys: [...(await readSealKeyLines(settings.dataDir))],
      audio: audio?.list ?? null,
      settings: given,
      withheldSettings: [...withheld],
    };
    signal.throwIfAborted();
    await folder.publish(manifest);
    if (audio) await removeDeleted(folder, audio.deleted);
    const warnings = await sharedPaths([directory]);
    return { manifest, audio: audio?.copied, keyId: key?.keyId, warnings };
  };

/** The settings with the event store in this file. */
export const atPath = (settings: Settings, path: string): Settings => ({
  ...settings,
  eventStore: { kind: "sqlite", path },
});

/** Resolves with null if the event store is a server, which has its own tools. */
const copyLog = async ({ eventStore }: Settings, folder: Folder): Promise<Manifest["log"]> => {
  if (eventStore.kind !== "sqlite") return null;
  const file = folder.names.log;
  const copy = folder.draftOf(file);
  await withSettingName("EVENT_STORE", copyDatabase(eventStore.path, copy));
  return { file, bytes: (await stat(copy)).size, sha256: await readSha256(copy) };
};

const backUpKey = async (
  settings: Settings,
  folder: Folder,
  recorded: string | null,
  readPassphrase: () => Promise<string>,
): Promise<{ readonly keyId: string; readonly file: string }> => {
  const key = await obtainMasterKey(settings, { mayCreate: false });
  const keyId = masterKeyIdOf(key);
  if (recorded !== null && keyId !== recorded) {
    throw new Error(
      `MASTER_KEY: this key is ${keyId}, the log's is ${recorded}: finish its rotation with \`voxledger credentials reencrypt\` first`,
    );
  }
  const file = folder.names.masterKey(keyId);
  await createPrivateFile(folder.draftOf(file), await encryptKey(key, keyId, await readPassphrase()));
  return { keyId, file };
};

interface AudioBackup {
  readonly copied: CopiedAudio;
  readonly list: NonNullable<Manifest["audio"]>;
  /** The hashes of audio that an operator has deleted, and that was not made again. */
  readonly deleted: readonly string[];
}

/** Resolves with undefined for a bucket, which has its own tools. */
const backUpAudio = async (
  { audioStore }: Settings,
  { audio, names, draftOf, pathOf, previous }: Folder,
  options: { readonly deletions: Deletions; readonly verifies: boolean; readonly signal: AbortSignal },
): Promise<AudioBackup | undefined> => {
  if (audioStore.kind !== "file") return undefined;
  const { deletions, signal } = options;
  const live = await realPath(audioStore.path);
  await refuseLinks(live, signal);
  await refuseLink(audio);
  await refuseLinks(audio, signal);
  await using opened = new AsyncDisposableStack();
  const from = await withSettingName("AUDIO_STORE", openFilesystemAudioStore({ path: live }));
  opened.defer(from.close);
  const to = await openFilesystemAudioStore({ path: audio });
  opened.defer(to.close);
  const file = names.audio;
  const list = await createListFile(draftOf(file));
  opened.defer(list.close);
  const before = previous?.audio && (await intactList(pathOf(previous.audio.file), previous.audio.sha256));
  /** The hashes of audio that was made again after its deletion. */
  const remade = new Set<string>();
  const copied = await copyAudio(from, to, {
    ...options,
    previous: before ? readListFile(before) : noEntries(),
    list: async (entry) => {
      const hash = hashInName(entry.name);
      if (hash !== undefined && deletions.has(hash) && !isDeleted(deletions, entry)) remade.add(hash);
      await list.add(entry);
    },
  });
  const { objects, bytes } = copied;
  return {
    copied,
    list: { file, sha256: await list.end(), objects, bytes },
    deleted: [...deletions.keys()].filter((hash) => !remade.has(hash)),
  };
};

/**
 * Returns the path of the list if the list is intact. Without a list, copies are compared with the
 * audio of the service.
 */
const intactList = async (path: string, sha256: string): Promise<string | undefined> =>
  (await exists(path)) && (await readSha256(path)) === sha256 ? path : undefined;

async function* noEntries(): AsyncGenerator<never, void> {}

/** Deleted audio is not restored. Its copies are removed too. */
const removeDeleted = async ({ audio }: Folder, deleted: readonly string[]): Promise<void> => {
  const store = await openFilesystemAudioStore({ path: audio });
  for (const hash of deleted) await store.remove(hash);
  await store.close();
};
