import { randomBytes } from "node:crypto";
import { link, mkdir, readdir, readFile, rename, rm, rmdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Deletions, ListedAudio } from "../../../application/backup/audio-list.ts";
import { type RestoredAudio, restoreAudio } from "../../../application/backup/copy-audio.ts";
import { openFilesystemAudioStore } from "../../../audio/store/filesystem/filesystem-audio-store.ts";
import { audioFolders } from "../../../domain/synthesis/recipe.ts";
import { exists } from "../../../files/exists.ts";
import type { Settings } from "../../../settings/read-settings.ts";
import { writeMasterKey } from "../../master-key.ts";
import { makePrivateDirectory } from "../../private-directory.ts";
import { createPrivateFile, syncDirectory } from "../../private-files.ts";
import { openAudioStore } from "../../speech/audio-store.ts";

interface Parts {
  readonly hasLog: boolean;
  readonly hasAudio: boolean;
}

/** The audio of a backup. */
interface AudioSource {
  readonly folder: string;
  readonly list: () => AsyncIterable<ListedAudio>;
}

/**
 * Opens the empty directories of a restore. Until `publish`, everything is written into a directory
 * of its own in each of them. Disposal removes it, and without `publish` all that was made.
 * @throws if something is where the backup is to be restored
 */
export const openTarget = async (settings: Settings, parts: Parts) => {
  const { dataDir, eventStore, audioStore } = settings;
  await requireEmpty(settings, parts);
  const undo: (() => Promise<unknown>)[] = [];
  const own = `.restore-${randomBytes(4).toString("hex")}`;
  const stages: string[] = [];
  let isPublished = false;
  const logPath = eventStore.kind === "sqlite" && parts.hasLog ? resolve(eventStore.path) : undefined;
  const audioPath = audioStore.kind === "file" && parts.hasAudio ? resolve(audioStore.path) : undefined;

  const makeDirectory = async (path: string): Promise<void> => {
    const missing: string[] = [];
    for (let at = path; !(await exists(at)); at = dirname(at)) missing.push(at);
    await makePrivateDirectory(path);
    undo.unshift(...missing.map((made) => () => rmdir(made)));
  };
  const stageIn = async (directory: string): Promise<string> => {
    await makeDirectory(directory);
    const stage = join(directory, own);
    await mkdir(stage, { mode: 0o700 });
    stages.push(stage);
    return stage;
  };
  const publishSealKeys = async (stage: string): Promise<void> => {
    const path = join(dataDir, "seal.pub");
    // It is missing if no key is known.
    const keys = await readFile(join(stage, "seal.pub"), "utf8").catch(() => "");
    await createPrivateFile(path, keys);
    undo.unshift(() => rm(path));
    await syncDirectory(dataDir);
  };
  const writeKey = async (key: Buffer): Promise<void> => {
    await writeMasterKey(dataDir, key);
    const path = join(dataDir, "master.key");
    if ((await readFile(path, "utf8")).trim() !== key.toString("base64"))
      throw new Error(`${path} was created meanwhile: stop all instances`);
    undo.unshift(() => rm(path));
  };
  const publishAudio = async (path: string): Promise<void> => {
    for (const folder of audioFolders) {
      const staged = join(path, own, folder);
      if (!(await exists(staged))) continue;
      await rename(staged, join(path, folder));
      undo.unshift(() => rm(join(path, folder), { recursive: true }));
    }
    await syncDirectory(path);
  };
  const close = async (): Promise<void> => {
    for (const stage of stages) await rm(stage, { recursive: true, force: true });
    if (!isPublished) for (const step of undo) await step().catch(() => {});
  };

  try {
    await makeDirectory(resolve(dataDir));
    const logStage = logPath === undefined ? undefined : await stageIn(dirname(logPath));
    const audioStage = audioPath === undefined ? undefined : await stageIn(audioPath);
    return {
      /** The settings with which the log is written before it has its name. */
      staged: (): Settings =>
        logStage === undefined
          ? settings
          : {
              ...settings,
              dataDir: logStage,
              eventStore: { kind: "sqlite", path: join(logStage, "events.db") },
            },
      restoreAudio: async (
        { folder, list }: AudioSource,
        options: { readonly deletions: Deletions; readonly signal: AbortSignal },
      ): Promise<RestoredAudio> => {
        await using opened = new AsyncDisposableStack();
        const from = await openFilesystemAudioStore({ path: folder });
        opened.defer(from.close);
        const to =
          audioStage === undefined
            ? await openAudioStore(settings, () => {})
            : await openFilesystemAudioStore({ path: audioStage });
        opened.defer(to.close);
        return await restoreAudio(from, to, { ...options, list: list() });
      },
      /**
       * Moves everything to its place, and replaces nothing that exists by now. `key`: the master
       * key, if it is missing in DATA_DIR.
       */
      publish: async (key: Buffer | undefined): Promise<void> => {
        // If two restores run at once, one of them fails here.
        if (logStage !== undefined) await publishSealKeys(logStage);
        if (key) await writeKey(key);
        if (audioPath !== undefined) await publishAudio(audioPath);
        if (logStage !== undefined && logPath !== undefined) {
          const draft = join(logStage, "events.db");
          if (await exists(`${draft}-wal`)) throw new Error("the restored log was not closed");
          await link(draft, logPath);
          await syncDirectory(dirname(logPath));
        }
        isPublished = true;
      },
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
};

/** The master key must be put into the empty directory if the backup lacks it. */
const allowedNames = ["master.key", "lost+found"];

/** @throws if something is where the backup is to be restored */
const requireEmpty = async (settings: Settings, { hasLog, hasAudio }: Parts): Promise<void> => {
  const { dataDir, eventStore, audioStore } = settings;
  const refuse = (path: string, other = ""): never => {
    throw new Error(
      `${path} exists: a backup is restored only into empty directories; move it away first${other}`,
    );
  };
  const refuseAudio = (path: string) => refuse(path, ", or leave the audio as it is by --no-audio");
  const audioPath = audioStore.kind === "file" ? resolve(audioStore.path) : undefined;
  if (hasLog) {
    if (eventStore.kind === "sqlite")
      for (const suffix of ["", "-wal", "-shm"])
        if (await exists(`${eventStore.path}${suffix}`)) refuse(`${eventStore.path}${suffix}`);
    for (const name of await namesIn(dataDir)) {
      const path = resolve(dataDir, name);
      if (!allowedNames.includes(name) && path !== audioPath) refuse(path);
    }
  }
  if (!hasAudio) return;
  if (audioPath === undefined) {
    const name = await firstOfBucket(settings);
    if (name !== undefined) refuseAudio(`${name} in the bucket of AUDIO_STORE`);
    return;
  }
  for (const name of await namesIn(audioPath))
    if (!allowedNames.includes(name)) refuseAudio(join(audioPath, name));
};

/** The name of an object of the bucket, if it has any. */
const firstOfBucket = async (settings: Settings): Promise<string | undefined> => {
  const store = await openAudioStore(settings, () => {});
  try {
    for await (const { names } of store.list(new AbortController().signal)) return names[0];
    return undefined;
  } finally {
    await store.close();
  }
};

const namesIn = (path: string): Promise<string[]> =>
  readdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
