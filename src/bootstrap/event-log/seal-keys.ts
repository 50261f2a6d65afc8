import { randomUUID } from "node:crypto";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createNoteVerifier } from "../../domain/ledger/seals/note-signer.ts";
import type { NoteVerifier } from "../../domain/ledger/seals/seal-note.ts";
import { BadSetting, withSettingName } from "../../settings.ts";

const pathOf = (dataDir: string): string => join(dataDir, "seal.pub");

/**
 * The verifier keys of this installation's seals, one per line in DATA_DIR/seal.pub. Adds the given
 * ones: a key that was replaced is still needed to verify earlier seals.
 * @throws {BadSetting}
 */
export const recordSealKeys = async (
  dataDir: string,
  keys: readonly string[],
): Promise<readonly string[]> => {
  const known = await readLines(dataDir);
  const all = [...new Set([...keys, ...known])];
  if (all.length > known.length)
    await withSettingName("DATA_DIR", replace(pathOf(dataDir), `${all.join("\n")}\n`));
  return all;
};

/** @throws {BadSetting} if there is no readable seal.pub */
export const readSealKeys = async (dataDir: string): Promise<NoteVerifier[]> => {
  const lines = await readLines(dataDir);
  if (lines.length === 0) throw new BadSetting("DATA_DIR: it has no seal.pub; name the key with --key");
  return parseSealKeys(lines);
};

/** @throws {BadSetting} */
export const parseSealKeys = (lines: readonly string[]): NoteVerifier[] =>
  lines.map((line) => {
    const key = createNoteVerifier(line);
    if (!key) throw new BadSetting("DATA_DIR: seal.pub has a line that is not a verifier key");
    return key;
  });

const readLines = async (dataDir: string): Promise<string[]> => {
  const reading = readFile(pathOf(dataDir), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  const text = await withSettingName("DATA_DIR", reading);
  return text.split("\n").filter((line) => line !== "");
};

/** Readers see the old file or the new one. */
const replace = async (path: string, text: string): Promise<void> => {
  const draft = `${path}.${randomUUID()}`;
  try {
    await writeFile(draft, text, { flag: "wx" });
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
};
