import { execFileSync } from "node:child_process";
import { cp, symlink } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "./service.ts";

/** The tiny models (test/support/models), with names as in that folder. */
export const packNames = {
  /** Like Piper's; one speaker. Its frontend is espeak-ng. */
  piper: "vits-piper-en_US-tiny-low",
  /** Two speakers; its frontend reads characters. */
  characters: "vits-tiny-de_DE",
  /** Draws random numbers of its own. */
  kokoro: "kokoro-tiny-en",
  /** Without the metadata `sample_rate`. */
  broken: "broken-en_US",
} as const;

export interface PlacedPacks {
  /** The folder that contains them. */
  readonly folder: string;
  path(pack: keyof typeof packNames): string;
  remove(): Promise<void>;
}

/**
 * Places copies of packs in a temporary folder, with the data of the installed espeak-ng where they
 * need it.
 */
export const placePacks = async (...packs: readonly (keyof typeof packNames)[]): Promise<PlacedPacks> => {
  const { path: folder, remove } = await temporaryFolder();
  const path = (pack: keyof typeof packNames): string => join(folder, packNames[pack]);
  for (const pack of packs) {
    await cp(join(import.meta.dirname, "models", packNames[pack]), path(pack), { recursive: true });
    if (pack !== "characters") await symlink(espeakData(), join(path(pack), "espeak-ng-data"));
  }
  return { folder, path, remove };
};

const espeakData = (): string => {
  const [, path] = /Data at: (\S+)/.exec(execFileSync("espeak-ng", ["--version"]).toString()) ?? [];
  if (path === undefined) throw new Error("espeak-ng is not installed");
  return path;
};
