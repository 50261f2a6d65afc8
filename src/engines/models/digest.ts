import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

/**
 * A digest of the files and of all files in the folders: by their names and bytes, wherever they
 * lie.
 */
export const digestOf = async (folder: string, names: readonly string[]): Promise<string> => {
  const hash = createHash("sha256");
  for (const name of (await Promise.all(names.map((one) => filesOf(folder, one)))).flat().sort()) {
    const content = createHash("sha256");
    await pipeline(createReadStream(join(folder, name)), content);
    hash.update(`${name}\0${content.digest("hex")}\n`);
  }
  return hash.digest("hex").slice(0, 32);
};

/** More than espeak-ng's data has. */
const mostFiles = 5_000;

const filesOf = async (folder: string, name: string): Promise<string[]> => {
  const found = await stat(join(folder, name));
  if (found.isFile()) return [name];
  const all = await readdir(join(folder, name), { recursive: true, withFileTypes: true });
  const files = all.filter((entry) => !entry.isDirectory());
  if (files.length > mostFiles) throw new Error(`The folder ${name} has more than ${mostFiles} files.`);
  return files.map(({ parentPath, name: file }) => join(parentPath, file).slice(folder.length + 1));
};
