import { readdir } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { errorMessage } from "../../domain/errors.ts";
import type { FreeEngine } from "../../domain/synthesis/speech.ts";
import { type ModelPack, readPack } from "./pack.ts";

/** The paths at which an operator has placed packs. */
interface PackPlaces {
  /** Folders of packs, by engine. */
  readonly paths: Readonly<Partial<Record<FreeEngine, readonly string[]>>>;
  /** A folder whose subfolders are packs of g1. */
  readonly folder?: string | undefined;
}

/**
 * Reads all packs, one after the other, because computing their digests needs the disk's full
 * speed.
 */
export const openPacks = async ({ paths, folder }: PackPlaces) => {
  /** Packs that cannot be used; `name` is the folder without its path. */
  const failures: { readonly name: string; readonly message: string }[] = [];
  const read = new Map<string, ModelPack>();
  const packs = new Map<FreeEngine, readonly ModelPack[]>();
  const add = async (engine: FreeEngine, given: string): Promise<void> => {
    const path = resolve(given);
    const name = basename(path);
    try {
      const pack = read.get(path) ?? (await readPack(path));
      // Processes of models are found by name: if two packs had the same name, the wrong one might
      // speak.
      if ([...read].some(([place, { name }]) => name === pack.name && place !== path)) throw sameName();
      read.set(path, pack);
      const others = packs.get(engine) ?? [];
      if (!others.includes(pack)) packs.set(engine, [...others, pack]);
    } catch (error) {
      failures.push({ name, message: withoutPaths(errorMessage(error)) });
    }
  };
  for (const [engine, list = []] of Object.entries(paths)) {
    for (const path of list) await add(engine as FreeEngine, path);
  }
  try {
    for (const path of folder === undefined ? [] : await foldersIn(folder)) await add("g1", path);
  } catch (error) {
    failures.push({ name: basename(folder ?? ""), message: withoutPaths(errorMessage(error)) });
  }
  return { packs, failures };
};

const sameName = (): Error => new Error("Another folder of a model has this name: rename one of them.");

const foldersIn = async (folder: string): Promise<string[]> => {
  const entries = await readdir(folder, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink());
  return folders
    .map(({ name }) => name)
    .filter((name) => !name.startsWith("."))
    .sort()
    .map((name) => join(folder, name));
};

/** Removes paths, because /health is readable without credentials. */
const withoutPaths = (message: string): string => message.replace(/'[^']*\//g, "'");
