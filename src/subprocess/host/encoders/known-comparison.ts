import { execFile } from "node:child_process";
import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { getCompileCacheDir } from "node:module";
import { cpus } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { fileIdentity } from "../../../files/file-identity.ts";

/*
 * Remembers between starts that the libraries have encoded like ffmpeg: the comparison takes 0.4 s
 * of CPU time. The record is stored beside the compiled code, and needs no more protection than
 * this code does. It is valid only as long as every file that the comparison has read is the same.
 */

interface Comparison {
  readonly ffmpegVersion: string;
  /** Everything else that decides the bytes. */
  readonly context: string;
  /** The identity of each file, by its path. */
  readonly files: Readonly<Record<string, string>>;
}

/** Returns the version of ffmpeg if the libraries are known to encode like it. Never throws. */
export const recallComparison = (context: string, folder = getCompileCacheDir()): string | undefined => {
  if (folder === undefined) return undefined;
  try {
    const known: Comparison = JSON.parse(readFileSync(recordIn(folder), "utf8"));
    const isSame = (file: string) =>
      known.files[file] !== undefined && fileIdentity(file) === known.files[file];
    if (known.context !== contextOf(context) || !isSame(findFfmpeg())) return undefined;
    return Object.keys(known.files).every(isSame) ? known.ffmpegVersion : undefined;
  } catch {
    return undefined; // There is no record, or it is damaged, or a file is missing.
  }
};

/**
 * Records that the libraries encode like ffmpeg. `loaded`: the files that our process had loaded
 * when it used the libraries. `since`: the time at which the comparison began. Does nothing unless
 * ffmpeg loads the same files of these libraries. ffmpeg loads other files if it is a script, or
 * was built with other libraries. Never rejects.
 */
export const recordComparison = async (
  { ffmpegVersion, context }: Pick<Comparison, "ffmpegVersion" | "context">,
  loaded: readonly string[],
  since: number,
  folder = getCompileCacheDir(),
): Promise<void> => {
  if (folder === undefined) return;
  try {
    const ffmpeg = findFfmpeg();
    const linked = await linkedLibraries(ffmpeg);
    const isOfCodecs = (file: string): boolean => codecLibraries.some((name) => file.includes(`/${name}.so`));
    const used = loaded.filter(isOfCodecs);
    if (used.length < codecLibraries.length || !used.every((file) => linked.includes(file))) return;
    const all = [ffmpeg, ...linked, ...loaded, ...ourFiles(), loaderCache];
    const haveChanged = all.some((file) => statSync(file).ctimeMs >= since);
    if (haveChanged) return;
    const files = Object.fromEntries(all.map((file) => [file, fileIdentity(file) ?? ""]));
    const comparison: Comparison = { ffmpegVersion, context: contextOf(context), files };
    const written = `${recordIn(folder)}.${process.pid}`;
    await writeFile(written, JSON.stringify(comparison), { mode: 0o600 });
    await rename(written, recordIn(folder));
  } catch {
    // The next start compares again.
  }
};

/** The libraries that encode. ffmpeg must load the same files of them. */
const codecLibraries = ["libmp3lame", "libavutil", "libavcodec", "libavformat", "libswresample"];

/** The file by which the dynamic loader finds libraries. */
const loaderCache = "/etc/ld.so.cache";

/**
 * Contains the model of the processor, because another one may implement a function differently.
 */
const contextOf = (context: string): string => `${cpus()[0]?.model} ${process.version} ${context}`;

const recordIn = (folder: string): string => join(folder, "encoders.json");

/** @throws {Error} if ffmpeg is not installed */
const findFfmpeg = (): string => {
  const folders = process.env.PATH?.split(delimiter) ?? [];
  const found = folders.map((folder) => join(folder, "ffmpeg")).find(isFile);
  return realpathSync(found ?? "ffmpeg");
};

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;

/** The libraries that the dynamic loader would load for a program, as `ldd` lists them. */
const linkedLibraries = async (program: string): Promise<string[]> => {
  const env = { ...process.env, LD_TRACE_LOADED_OBJECTS: "1" };
  const { stdout } = await promisify(execFile)(program, [], { env, timeout: 15_000 });
  return [...stdout.matchAll(/(\/\S+) \(0x/g)].map(([, path = ""]) => realpathSync(path));
};

/** The files of this folder, which decide how audio is encoded. */
const ourFiles = (): string[] =>
  readdirSync(import.meta.dirname).map((name) => join(import.meta.dirname, name));
