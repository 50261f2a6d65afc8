import { stat } from "node:fs/promises";
import { getCompileCacheDir } from "node:module";
import { join } from "node:path";
import { errorMessage } from "../../domain/errors.ts";
import { createFileDigests } from "../../files/file-digests.ts";
import { identityOf } from "../../files/file-identity.ts";
import { digestOfFiles, voicePackages } from "./packages.ts";
import type { PublishedFile, VoicePackage } from "./voice-package.ts";

/** A natural voice whose files are all here, as they were published. */
export interface InstalledVoice {
  /** Its name in SystemVoice.voiceName, such as `hibari:heart`. */
  readonly voiceName: string;
  readonly package: VoicePackage;
  /** The package's folder. */
  readonly folder: string;
  /** The digest of the files that its audio depends on. */
  readonly digest: string;
}

/**
 * A file that cannot be used. The message names no path: health is readable without credentials.
 */
interface UnusableFile {
  readonly package: string;
  readonly message: string;
}

export interface NaturalVoices {
  /** The installed voices, by SystemVoice.voiceName. */
  readonly installed: ReadonlyMap<string, InstalledVoice>;
  readonly unusable: readonly UnusableFile[];
  /**
   * Reads the folder again, and adds voices that are now complete to the installed ones. Resolves
   * with their names. Installed voices are never removed. Never rejects.
   */
  readonly refresh: () => Promise<readonly string[]>;
}

/** `scripts/natural-voices` installs the voices here by default. */
const defaultFolder = join(import.meta.dirname, "../../../voices");

/** The folder of the setting `NATURAL_VOICES_DIR`. Undefined if the installation has none. */
export const naturalVoicesFolder = (setting: string | undefined): string | undefined =>
  setting === "none" ? undefined : (setting ?? defaultFolder);

/**
 * Reads and checks the files of the folder. Never rejects: voices whose files are missing or differ
 * are not installed.
 */
export const openNaturalVoices = async (folder: string | undefined): Promise<NaturalVoices> => {
  const installed = new Map<string, InstalledVoice>();
  let unusable: readonly UnusableFile[] = [];
  const refresh = async (): Promise<readonly string[]> => {
    if (folder === undefined) return [];
    const opened = await Promise.all(voicePackages.map((one) => openPackage(one, join(folder, one.name))));
    await digests.keep();
    unusable = opened.flatMap((one) => one.unusable);
    const added = opened.flatMap(({ voices }) => voices).filter(({ voiceName }) => !installed.has(voiceName));
    for (const voice of added) installed.set(voice.voiceName, voice);
    return added.map(({ voiceName }) => voiceName);
  };
  await refresh();
  return {
    installed,
    get unusable() {
      return unusable;
    },
    refresh,
  };
};

const openPackage = async (voicePackage: VoicePackage, folder: string) => {
  const { name, files, voices } = voicePackage;
  if (await isMissing(folder)) return { voices: [], unusable: [] };
  const states = new Map<string, FileState>();
  for (const [file, published] of Object.entries(files))
    states.set(file, await stateOf(join(folder, file), published));
  const isUsable = (file: string): boolean => states.get(file) === "good";
  const installed = Object.entries(voices)
    .filter(([, needed]) => needed.every(isUsable))
    .map(
      ([voice, needed]): InstalledVoice => ({
        ...{ voiceName: `${name}:${voice}`, package: voicePackage, folder },
        digest: digestOfFiles(files, needed),
      }),
    );
  const unusable = [...states].flatMap(([file, state]): UnusableFile[] =>
    state === "good" || state === "missing" ? [] : [{ package: name, message: `${file} ${state.why}` }],
  );
  return { voices: installed, unusable };
};

const isMissing = (folder: string): Promise<boolean> =>
  stat(folder).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === "ENOENT",
  );

type FileState = "good" | "missing" | { readonly why: string };

const stateOf = async (path: string, [bytes, sha256]: PublishedFile): Promise<FileState> => {
  try {
    const found = await stat(path, { bigint: true });
    const isGood = found.size === BigInt(bytes) && (await digests.sha256(path, identityOf(found))) === sha256;
    return isGood ? "good" : { why: "is not the published file" };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" ? "missing" : { why: `cannot be read: ${code ?? errorMessage(error)}` };
  }
};

const cache = getCompileCacheDir();
/** To read all files at each start would take 80 ms of CPU time and 20 MB of memory. */
const digests = createFileDigests(cache && join(cache, "voices.json"));
