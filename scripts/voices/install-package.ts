import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
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

const put = async (folder: string, file: string, bytes: Buffer): Promise<void> => {
  const temporary = join(folder, `.${file}.${process.pid}`);
  await writeFile(temporary, bytes, { mode: 0o644 });
  await rename(temporary, join(folder, file));
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

/** @throws {Error} in one line */
export const installArchives = async (voicePackage: VoicePackage, folder: string): Promise<void> => {
  const { title, files, archives } = voicePackage;
  const missing = await missingFrom(voicePackage, folder);
  if (missing.length === 0) return;
  console.log(`Installing the voices of ${title} …`);
  const parts = new Map<string, ReadMember[]>();
  for (const archive of archives) {
    const wanted = missing.filter((file) => file in archive.members);
    if (wanted.length === 0) continue;
    const read = openArchive(archive.file, await downloadArchive(archive));
    for (const file of wanted)
      parts.set(file, [...(parts.get(file) ?? []), () => read(archive.members[file] ?? file)]);
  }
  await mkdir(folder, { recursive: true });
  for (const [file, readers] of parts) {
    const content = Buffer.concat(readers.map((read) => read(file)));
    const [, sha256 = sha256Of(content)] = files[file] ?? [];
    if (sha256Of(content) !== sha256) throw new Error(`${file} is not the published file`);
    await put(folder, file, content);
  }
};

/** The files that only the author's page has: everything works without them. */
export const installPage = async ({ title, files, page }: VoicePackage, folder: string): Promise<void> => {
  if (!page) return;
  const fetchFile = async (file: string): Promise<void> => {
    const [, sha256 = ""] = files[file] ?? [];
    if (!(await isHere(folder, file, sha256)))
      await put(folder, file, await download(`${page.url}${file}`, sha256));
  };
  const results = await Promise.allSettled(page.files.map(fetchFile));
  const [failed] = results.flatMap((one) => (one.status === "rejected" ? [one.reason as Error] : []));
  if (failed) console.log(`natural-voices: without the further voices of ${title} (${failed.message})`);
};
