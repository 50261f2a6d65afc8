import { randomBytes } from "node:crypto";
import { lstat, mkdir, readdir, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  BadBackup,
  backupStamp,
  filesOf,
  formatManifest,
  isFileOfBackup,
  type Manifest,
  namesOfBackup,
  parseManifest,
} from "../../../application/backup/manifest.ts";
import { lockFile } from "../../../eventstore/sqlite/lock-file.ts";
import { exists } from "../../../files/exists.ts";
import { isSameFile, isWithin, realPath } from "../../../files/real-path.ts";
import type { Settings } from "../../../settings/read-settings.ts";
import { makePrivateDirectory } from "../../private-directory.ts";
import { createPrivateFile, syncDirectory } from "../../private-files.ts";

/** The names in the directory of a backup that are the same for each backup. */
const names = {
  manifest: "manifest.json",
  audio: "audio",
  /** Shows also that the directory is one of backups. */
  lock: "voxledger-backup.lock",
  /** What a backup writes before it is complete. The next one removes it. */
  incomplete: "voxledger-backup.incomplete",
} as const;

export const audioOf = (directory: string): string => join(directory, names.audio);

/**
 * Refuses a directory that holds live data, or is held by it: a backup there would be lost with the
 * data, or damage it.
 * @throws {BadBackup}
 */
export const requireApart = async (
  directory: string,
  { dataDir, eventStore, audioStore }: Pick<Settings, "dataDir" | "eventStore" | "audioStore">,
): Promise<void> => {
  const backup = await realPath(directory);
  const refuse = (setting: string, path: string): never => {
    throw new BadBackup(`${directory} must be apart from ${setting}, ${path}: name another directory`);
  };
  const places = [
    ["DATA_DIR", dataDir],
    ...(audioStore.kind === "file" ? [["AUDIO_STORE", audioStore.path]] : []),
  ];
  for (const [setting = "", path = ""] of places) {
    const place = await realPath(path);
    if (isWithin(place, backup) || isWithin(backup, place) || (await isSameFile(place, backup)))
      refuse(setting, path);
  }
  if (eventStore.kind !== "sqlite") return;
  for (const path of [dirname(await realPath(eventStore.path)), await realPath(dirname(eventStore.path))])
    if (isWithin(backup, path) || (await isSameFile(path, backup))) refuse("EVENT_STORE", eventStore.path);
};

/**
 * Opens the directory for one backup. It may hold an earlier backup, which stays valid until
 * `publish`.
 * @throws {BadBackup} if it holds anything else, or another process writes a backup there
 */
export const openBackupFolder = async (directory: string, takenAt: string) => {
  await makePrivateDirectory(directory);
  const root = await realpath(directory);
  const found = (await readdir(root)).filter((name) => name !== "lost+found");
  if (found.length > 0 && !found.includes(names.lock) && !found.includes(names.manifest))
    throw new BadBackup(`${directory} holds ${found[0]} and no backup: name another directory`);
  // A manifest of another program is refused before anything is written.
  if (found.includes(names.manifest)) await readManifest(root);
  const lock = await lockFile(join(root, names.lock));
  if (!lock) throw new BadBackup(`another backup is being written into ${directory}: wait for its end`);
  await using opened = new AsyncDisposableStack();
  opened.defer(() => lock[Symbol.dispose]());

  const previous = (await exists(join(root, names.manifest))) ? await readManifest(root) : undefined;
  const incomplete = join(root, names.incomplete);
  await removeIncomplete(incomplete);
  await mkdir(incomplete, { mode: 0o700 });
  opened.defer(() => removeIncomplete(incomplete));
  const stamp = backupStamp(takenAt, randomBytes(4).toString("hex"));
  const running = opened.move();
  return {
    previous,
    names: namesOfBackup(stamp),
    audio: audioOf(root),
    /** The path of a file of the earlier backup. */
    pathOf: (name: string): string => join(root, name),
    /** The path of a new file until `publish`. */
    draftOf: (name: string): string => join(incomplete, name),
    /**
     * Moves the new files to their places, replaces the manifest in one step, and removes the files
     * of earlier backups, also of one that was killed before its manifest had its place.
     */
    publish: async (manifest: Manifest): Promise<void> => {
      const files = filesOf(manifest);
      await createPrivateFile(join(incomplete, names.manifest), formatManifest(manifest));
      for (const name of files) await rename(join(incomplete, name), join(root, name));
      await syncDirectory(root);
      await rename(join(incomplete, names.manifest), join(root, names.manifest));
      await syncDirectory(root);
      const old = (await readdir(root)).filter((name) => isFileOfBackup(name) && !files.includes(name));
      for (const name of old) await rm(join(root, name));
    },
    close: () => running.disposeAsync(),
  };
};

/** @throws {BadBackup} if it is no directory: nothing else is removed */
const removeIncomplete = async (path: string): Promise<void> => {
  const found = await lstat(path).catch(() => undefined);
  if (found && !found.isDirectory()) throw new BadBackup(`${path} is not a directory: remove it`);
  await rm(path, { recursive: true, force: true });
};

const maxManifestBytes = 16 * 1024 * 1024;

/** @throws {BadBackup} */
export const readManifest = async (directory: string): Promise<Manifest> => {
  const path = join(directory, names.manifest);
  const info = await stat(path).catch(() => undefined);
  if (info && (!info.isFile() || info.size > maxManifestBytes))
    throw new BadBackup(`${path} is no manifest: it is not a file, or larger than 16 MB`);
  const text = await readFile(path, "utf8").catch((cause) => {
    throw new BadBackup(`${directory} has no ${names.manifest}: it is no complete backup`, { cause });
  });
  return parseManifest(text);
};
