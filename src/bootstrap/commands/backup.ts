import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import packageJson from "../../../package.json" with { type: "json" };
import { type CopiedAudio, copyAudio } from "../../application/backup/copy-audio.ts";
import { encryptKey } from "../../application/backup/encrypted-key.ts";
import {
  BadBackup,
  formatManifest,
  type LogFacts,
  type Manifest,
  parseManifest,
} from "../../application/backup/manifest.ts";
import { openFilesystemAudioStore } from "../../audio/store/filesystem/filesystem-audio-store.ts";
import type { TakeBackup } from "../../cli/commands/backup.ts";
import { copyDatabase } from "../../eventstore/sqlite/copy-database.ts";
import { readSha256 } from "../../files/file-digests.ts";
import { type Settings, withSettingName } from "../../settings/read-settings.ts";
import { withoutSecrets } from "../../settings/without-secrets.ts";
import { readSealKeyLines } from "../event-log/seals.ts";
import { masterKeyIdOf, obtainMasterKey } from "../master-key.ts";
import { makePrivateDirectory } from "../private-directory.ts";
import { replacePrivateFile } from "../private-files.ts";
import { openAudioStore } from "../speech/audio-store.ts";
import { readLogFacts } from "./log-facts.ts";

/** The names in the directory of a backup. */
export const backupFiles = {
  manifest: "manifest.json",
  masterKey: "master-key.json",
  audio: "audio",
} as const;

const logPattern = /^events-[\w-]+\.db$/;

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
  async (directory, { hasAudio, readPassphrase }) => {
    const settings = readSettings();
    const takenAt = new Date(clock()).toISOString();
    await makePrivateDirectory(directory);
    const previous = await readPrevious(directory);
    const file = await copyLog(settings, directory, takenAt);
    const complete = async () => {
      const facts = await readFacts(settings, directory, file);
      if (previous && previous.logId !== facts.logId)
        throw new BadBackup(`${directory} holds a backup of another log: name another directory`);
      const keyId = await backUpKey(settings, directory, facts.masterKeyId, readPassphrase);
      // The log is copied first, so that the audio is not older.
      const audio = hasAudio ? await backUpAudio(settings, directory) : undefined;
      const { settings: given, withheld } = withoutSecrets(env);
      const manifest: Manifest = {
        format: 1,
        version: packageJson.version,
        takenAt,
        streamPrefix: settings.streamPrefix,
        ...facts,
        log: file ? { file, ...(await digestOf(join(directory, file))) } : null,
        sealKeys: [...(await readSealKeyLines(settings.dataDir))],
        audio: audio ? { objects: audio.objects, bytes: audio.bytes } : null,
        settings: given,
        withheldSettings: [...withheld],
      };
      await replacePrivateFile(join(directory, backupFiles.manifest), formatManifest(manifest));
      return { manifest, audio, keyId };
    };
    const taken = await complete().catch(async (error: unknown) => {
      if (file) await rm(join(directory, file), { force: true });
      throw error;
    });
    await removeOtherLogs(directory, file);
    return taken;
  };

/** Reads the facts of the copy, and checks it; without a copy, those of the event store. */
const readFacts = (settings: Settings, directory: string, file: string | undefined): Promise<LogFacts> =>
  file
    ? readLogFacts(atPath(settings, join(directory, file)), (events) => events.checkIntegrity())
    : readLogFacts(settings);

/** The settings with the event store in this file. */
export const atPath = (settings: Settings, path: string): Settings => ({
  ...settings,
  eventStore: { kind: "sqlite", path },
});

/** @throws {BadBackup} if the directory holds anything else */
const readPrevious = async (directory: string): Promise<Manifest | undefined> => {
  const names = await readdir(directory);
  if (names.includes(backupFiles.manifest)) return await readManifest(directory);
  const others = names.filter((name) => !logPattern.test(name) && name !== backupFiles.audio);
  if (others.length === 0) return undefined; // it is new, or a first backup was interrupted
  throw new BadBackup(`${directory} holds ${others[0]} and no backup: name another directory`);
};

/** @throws {BadBackup} */
export const readManifest = async (directory: string): Promise<Manifest> => {
  const text = await readFile(join(directory, backupFiles.manifest), "utf8").catch((cause) => {
    throw new BadBackup(`${directory} has no ${backupFiles.manifest}: it is no complete backup`, { cause });
  });
  return parseManifest(text);
};

/** Returns the name of the copy; undefined if the event store is a server. */
const copyLog = async (
  { eventStore }: Settings,
  directory: string,
  takenAt: string,
): Promise<string | undefined> => {
  if (eventStore.kind !== "sqlite") return undefined;
  const file = `events-${takenAt.replace(/\W/g, "-")}.db`;
  await withSettingName("EVENT_STORE", copyDatabase(eventStore.path, join(directory, file)));
  return file;
};

export const digestOf = async (path: string): Promise<{ bytes: number; sha256: string }> => ({
  bytes: (await stat(path)).size,
  sha256: await readSha256(path),
});

/** Resolves with the id of the key, if it is part of the backup. */
const backUpKey = async (
  settings: Settings,
  directory: string,
  recorded: string | null,
  readPassphrase: (() => Promise<string>) | undefined,
): Promise<string | undefined> => {
  if (!readPassphrase) return undefined;
  const key = await obtainMasterKey(settings, { mayCreate: false });
  const keyId = masterKeyIdOf(key);
  if (recorded !== null && keyId !== recorded) {
    throw new Error(
      `MASTER_KEY: this key is ${keyId}, the log's is ${recorded}: finish its rotation with \`voxledger credentials reencrypt\` first`,
    );
  }
  const encrypted = await encryptKey(key, keyId, await readPassphrase());
  await replacePrivateFile(join(directory, backupFiles.masterKey), encrypted);
  return keyId;
};

/** A bucket has its own tools. */
const backUpAudio = async (settings: Settings, directory: string): Promise<CopiedAudio | undefined> => {
  if (settings.audioStore.kind !== "file") return undefined;
  await using opened = new AsyncDisposableStack();
  const from = await openAudioStore(settings, () => {});
  opened.defer(from.close);
  const to = await openFilesystemAudioStore({ path: join(directory, backupFiles.audio) });
  opened.defer(to.close);
  return await copyAudio(from, to, { signal: new AbortController().signal });
};

const removeOtherLogs = async (directory: string, current: string | undefined): Promise<void> => {
  const others = (await readdir(directory)).filter((name) => logPattern.test(name) && name !== current);
  for (const name of others) await rm(join(directory, name), { force: true });
};
