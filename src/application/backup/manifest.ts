import { z } from "zod";
import { errorMessage } from "../../domain/errors.ts";
import { parseVerifierKey } from "../../domain/ledger/seals/seal-note.ts";

/* What a backup contains, and by which facts a restore recognises it. */

const position = z.int().min(0);
const time = z.iso.datetime();

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** The names are exact, because the next backup removes files with these names. */
const fileNames = {
  log: /^events-[0-9TZ]+-[0-9a-f]{8}\.db$/,
  masterKey: /^master-key-[0-9a-f]{16}-[0-9TZ]+-[0-9a-f]{8}\.json$/,
  audio: /^audio-[0-9TZ]+-[0-9a-f]{8}\.txt$/,
};

/** True if a manifest may name the file. */
export const isFileOfBackup = (name: string): boolean =>
  Object.values(fileNames).some((pattern) => pattern.test(name));

/** The names of a backup's own files. `stamp`: as `backupStamp` makes it. */
export const namesOfBackup = (stamp: string) => ({
  log: `events-${stamp}.db`,
  masterKey: (keyId: string): string => `master-key-${keyId}-${stamp}.json`,
  audio: `audio-${stamp}.txt`,
});

/** `random`: eight hexadecimal digits, which are different for each backup. */
export const backupStamp = (takenAt: string, random: string): string =>
  `${takenAt.replace(/[^0-9TZ]/g, "")}-${random}`;

/** The names of the files that the manifest names. */
export const filesOf = ({ log, masterKey, audio }: Manifest): string[] =>
  [log, masterKey, audio].flatMap((part) => (part ? [part.file] : []));

const manifestSchema = z.object({
  format: z.literal(1),
  /** The version that took the backup. */
  version: z.string(),
  takenAt: time,
  logId: z.string(),
  streamPrefix: z.string(),
  /** The last position of the log. */
  position,
  /** The file of the log. Null if the event store is a server, which has its own tools. */
  log: z
    .object({
      file: z.string().regex(fileNames.log),
      bytes: z.int().positive(),
      sha256,
    })
    .nullable(),
  /** The id of the master key that the log records. It discloses nothing about the key. */
  masterKeyId: z.string().nullable(),
  /** The public keys of all seals, one for each key that was used. */
  sealKeys: z.array(z.string().refine((key) => parseVerifierKey(key) !== undefined)),
  newestSeal: z.object({ position: z.int().min(-1), at: time, note: z.string() }).nullable(),
  /** The file of the encrypted master key. Null if it is not part of the backup. */
  masterKey: z.object({ file: z.string().regex(fileNames.masterKey) }).nullable(),
  /**
   * The list of the stored audio at the time of the backup. Null if it is not part of the backup.
   */
  audio: z
    .object({
      file: z.string().regex(fileNames.audio),
      sha256,
      objects: z.int().min(0),
      bytes: z.int().min(0),
    })
    .nullable(),
  settings: z.record(z.string(), z.string()),
  /** The names of settings that are left out, because they hold secrets. */
  withheldSettings: z.array(z.string()),
});

export type Manifest = Readonly<z.output<typeof manifestSchema>>;

/** The backup is damaged, incomplete, or one of another log. */
export class BadBackup extends Error {
  override readonly name = "BadBackup";
}

export const formatManifest = (manifest: Manifest): string => `${JSON.stringify(manifest, null, 2)}\n`;

/** @throws {BadBackup} */
export const parseManifest = (text: string): Manifest => {
  try {
    return manifestSchema.parse(JSON.parse(text));
  } catch (error) {
    const { issues = [] } = error as Partial<z.ZodError>;
    const [issue] = issues;
    const why = issue ? `${issue.path.join(".")}: ${issue.message}` : errorMessage(error);
    throw new BadBackup(`manifest.json is not one of this version's backups: ${why}`, { cause: error });
  }
};

/**
 * Checks that the log of a backup is the one that its manifest describes.
 * @throws {BadBackup}
 */
export const compareLog = (manifest: Manifest, log: LogFacts): void => {
  for (const name of ["logId", "position", "masterKeyId"] as const) {
    if (manifest[name] !== log[name])
      throw new BadBackup(`the log has the ${name} ${log[name]}, and manifest.json says ${manifest[name]}`);
  }
  if (manifest.newestSeal?.note !== log.newestSeal?.note)
    throw new BadBackup("the newest seal of the log is not the one of manifest.json");
};

/** What a manifest says about the log itself. */
export type LogFacts = Pick<Manifest, "logId" | "position" | "masterKeyId" | "newestSeal">;
