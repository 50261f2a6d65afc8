import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  createNoteSigner,
  createNoteVerifier,
  type NoteSigner,
} from "../../domain/ledger/seals/note-signer.ts";
import type { NoteVerifier } from "../../domain/ledger/seals/seal-note.ts";
import type { EpochMs } from "../../domain/time.ts";
import type { EventStore } from "../../eventstore/event-store.ts";
import { replaceFile } from "../../files/replace-file.ts";
import { createKeyMonthExport } from "../../ledger/proof/key-month-export.ts";
import { createSeals } from "../../ledger/proof/seals.ts";
import { BadSetting, type Settings, withSettingName } from "../../settings/read-settings.ts";
import { deriveKeys, type MasterKeys } from "../master-key.ts";

export type Sealer = Awaited<ReturnType<typeof composeSeals>>;

/**
 * Seals are signed with SEAL_KEY, or else with a key that is derived from the master key, in the
 * name of the log. The former keys among the settings endorse that key.
 * @throws {BadSetting}
 */
export const composeSeals = async (
  { sealKey, previousSealKeys, dataDir }: Pick<Settings, "sealKey" | "previousSealKeys" | "dataDir">,
  {
    storeAsWritten,
    logId,
    masterKeys,
    clock,
    requireMeasuredClock,
    isKeyLost = false,
  }: {
    /** Events as stored. */
    readonly storeAsWritten: EventStore;
    readonly logId: string;
    readonly masterKeys: MasterKeys;
    readonly clock: () => EpochMs;
    readonly requireMeasuredClock: () => Promise<void>;
    /** See `createSeals`. */
    readonly isKeyLost?: boolean;
  },
) => {
  const signerOf = (seed: Buffer) => createNoteSigner(`voxledger/${logId}`, seed);
  const [derived, ...formerDerived] = deriveKeys(masterKeys, "seal");
  const signer = signerOf(sealKey ?? derived);
  const formerSealKeys = previousSealKeys.map(signerOf);
  const formerSigners = [...formerSealKeys, ...[derived, ...formerDerived].map(signerOf)];
  // All published keys are trusted. While SEAL_KEY is set, derived keys are not published, unless
  // they were published before: whoever has the master key must not be able to seal.
  const published = sealKey ? formerSealKeys : [...formerSealKeys, ...formerDerived.map(signerOf)];
  const lines = await recordSealKeys(
    dataDir,
    [signer, ...published].map(({ verifierKey }) => verifierKey),
  );
  const seals = createSeals({
    store: storeAsWritten,
    signer,
    formerSigners,
    keys: parseSealKeys(lines),
    isKeyLost,
    clock,
    requireMeasuredClock,
  });
  /** The verifier keys of this installation, one per line. The first is the current one. */
  const verifierKeys = `${lines.join("\n")}\n`;
  const exportKeyMonth = createKeyMonthExport({ store: storeAsWritten, seals, signer, clock });
  return { seals, signer, formerSigners, verifierKeys, exportKeyMonth };
};

/**
 * The first of these signs seals of the log, and the others endorse its key. Empty without a key.
 */
export const sealSigners = (
  logId: string,
  {
    sealKey,
    previousSealKeys,
    masterKeys,
  }: Pick<Settings, "sealKey" | "previousSealKeys"> & { readonly masterKeys: MasterKeys | undefined },
): NoteSigner[] => {
  const derived = masterKeys ? deriveKeys(masterKeys, "seal") : [];
  const seeds = [...(sealKey ? [sealKey] : []), ...derived, ...previousSealKeys];
  return seeds.map((seed) => createNoteSigner(`voxledger/${logId}`, seed));
};

const pathOf = (dataDir: string): string => join(dataDir, "seal.pub");

/**
 * Records the verifier keys of this installation's seals, one per line in DATA_DIR/seal.pub, and
 * returns all lines: a key that was replaced is still needed to verify earlier seals.
 * @throws {BadSetting}
 */
export const recordSealKeys = async (
  dataDir: string,
  keys: readonly string[],
): Promise<readonly string[]> => {
  const known = await readSealKeyLines(dataDir);
  const all = [...new Set([...keys, ...known])];
  if (all.join() !== known.join())
    await withSettingName("DATA_DIR", replaceFile(pathOf(dataDir), `${all.join("\n")}\n`));
  return all;
};

/** @throws {BadSetting} if there is no readable seal.pub */
export const readSealKeys = async (dataDir: string): Promise<NoteVerifier[]> => {
  const lines = await readSealKeyLines(dataDir);
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

/**
 * The lines of DATA_DIR/seal.pub; none if there is no such file.
 * @throws {BadSetting}
 */
export const readSealKeyLines = async (dataDir: string): Promise<string[]> => {
  const reading = readFile(pathOf(dataDir), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  const text = await withSettingName("DATA_DIR", reading);
  return text.split("\n").filter((line) => line !== "");
};
