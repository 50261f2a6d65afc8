import type { Command } from "commander";
import type { CopiedAudio, RestoredAudio } from "../../application/backup/copy-audio.ts";
import type { Manifest } from "../../application/backup/manifest.ts";
import type { NoteVerifier } from "../../domain/ledger/seals/seal-note.ts";
import type { MissingArchive } from "../../ledger/proof/audit-verify.ts";
import { count, fields } from "../columns.ts";
import { print, Remarked } from "../command.ts";
import { readPassphrase } from "../passphrase.ts";
import { parseKeys } from "./audit-proof.ts";

interface TakenBackup {
  readonly manifest: Manifest;
  /** Undefined if no audio was copied. */
  readonly audio: CopiedAudio | undefined;
  /** The id of the master key, if it is part of the backup. */
  readonly keyId: string | undefined;
  /** Says that other users may read or change the directory. */
  readonly warnings: readonly string[];
}

/**
 * Writes a backup into a directory, which may hold an earlier one of the same log.
 * @throws {BadBackup}
 * @throws {BadSetting}
 * @throws {EventStoreUnavailable}
 */
export type TakeBackup = (
  directory: string,
  options: {
    readonly hasAudio: boolean;
    /** True if earlier copies of audio are read and compared. */
    readonly verifies: boolean;
    /** Given if the backup is to include the master key. */
    readonly readPassphrase: (() => Promise<string>) | undefined;
    readonly signal: AbortSignal;
  },
) => Promise<TakenBackup>;

/** What was verified of the log in a backup. */
export interface VerifiedLog {
  /** `untrusted`: only with the keys in the backup itself, which whoever changes it can replace. */
  readonly seals: "trusted" | "untrusted" | "unsealed";
  /** The number of events after the last seal. */
  readonly unsealed: number | undefined;
  /** Archives of journals that were deleted before the backup. */
  readonly missingArchives: readonly MissingArchive[];
}

interface RestoredBackup {
  readonly manifest: Manifest;
  readonly log: VerifiedLog;
  readonly audio: RestoredAudio | undefined;
  readonly pausedWebhooks: number;
  /** False if no seal states the restore, because there is no key to sign one with. */
  readonly isSealed: boolean;
  /** False if the service will not start before it is given the log's master key. */
  readonly hasMasterKey: boolean;
  /** Says that other users may read or change the directory. */
  readonly warnings: readonly string[];
}

export interface RestoreOptions {
  readonly hasAudio: boolean;
  /** True if the event store's own tools have restored the log, which is recorded there. */
  readonly isLogRestored: boolean;
  /** The keys that the newest seal may be signed with, in addition to those of the settings. */
  readonly keys: readonly NoteVerifier[];
  /** True if the log's master key may be missing. */
  readonly withoutKey: boolean;
  /** True if the log may have no seal. */
  readonly withoutSeal: boolean;
  /** Called if the master key is in the backup alone. */
  readonly readPassphrase: () => Promise<string>;
  readonly signal: AbortSignal;
}

/**
 * Restores a backup.
 * @throws {BadBackup}
 * @throws {BadSetting}
 * @throws {NotGenuine}
 */
export type RestoreBackup = (directory: string, options: RestoreOptions) => Promise<RestoredBackup>;

interface BackupOptions {
  readonly audio: boolean;
  readonly verify?: true;
  readonly withKey?: true;
  readonly passphraseFile?: string;
}

interface RestoreFlags {
  readonly audio: boolean;
  readonly key?: string;
  readonly withoutKey?: true;
  readonly withoutSeal?: true;
  readonly logRestored?: true;
  readonly passphraseFile?: string;
}

const passphraseFile = ["--passphrase-file <file>", "the passphrase; default: ask on the terminal"] as const;

/** Adds the commands `backup` and `restore`. */
export const registerBackupCommands = (
  program: Command,
  takeBackup: TakeBackup,
  restoreBackup: RestoreBackup,
): void => {
  program
    .command("backup <directory>")
    .description("back up the log, the public keys of seals, settings without secrets, and the audio")
    .option("--no-audio", "leave out the audio, which can be made again")
    .option("--verify", "read the copies of audio that earlier backups have made, and replace damaged ones")
    .option("--with-key", "include the master key, encrypted under a passphrase")
    .option(...passphraseFile)
    .action(async (directory: string, options: BackupOptions, command: Command) => {
      const { audio: hasAudio, verify: verifies = false, withKey, passphraseFile: file } = options;
      if (file !== undefined && !withKey)
        throw new Error("--passphrase-file is for the master key, which only --with-key includes");
      const ask = withKey && (() => readPassphrase({ file, isNew: true }));
      const taken = await interruptible((signal) =>
        takeBackup(directory, { hasAudio, verifies, readPassphrase: ask, signal }),
      );
      print(command, { directory, ...taken }, backupText);
      if (taken.audio && taken.audio.damaged.length > 0) throw new Remarked();
    });
  program
    .command("restore <directory>")
    .description(
      "restore a backup into an empty DATA_DIR: exit code 0 if it is complete, 2 if something is left to do",
    )
    .option("--no-audio", "leave the audio store as it is")
    .option("--key <key>", "the verifier key of the log's seals; default: that of the master key")
    .option("--without-key", "restore without the log's master key: the restore is not sealed")
    .option("--without-seal", "restore a log that has no seal yet: nothing shows whether it was changed")
    .option("--log-restored", "the event store's own tools have restored the log: record it there")
    .option(...passphraseFile)
    .action(async (directory: string, options: RestoreFlags, command: Command) => {
      const { audio: hasAudio, key, withoutKey = false, withoutSeal = false } = options;
      const { logRestored: isLogRestored = false } = options;
      const keys = key === undefined ? [] : parseKeys(key);
      const ask = () => readPassphrase({ file: options.passphraseFile, isNew: false });
      const restored = await interruptible((signal) =>
        restoreBackup(directory, {
          ...{ hasAudio, isLogRestored, keys, withoutKey, withoutSeal },
          readPassphrase: ask,
          signal,
        }),
      );
      print(command, { directory, ...restored }, restoredText);
      if (!isComplete(restored)) throw new Remarked();
    });
};

/** Aborts the work at SIGINT or SIGTERM, so that it removes what it has made. */
const interruptible = async <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const controller = new AbortController();
  const abort = (): void => controller.abort(new Error("interrupted"));
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, abort);
  try {
    return await work(controller.signal);
  } finally {
    for (const name of ["SIGINT", "SIGTERM"] as const) process.off(name, abort);
  }
};

const isComplete = ({ log, hasMasterKey, isSealed, pausedWebhooks, audio }: RestoredBackup): boolean =>
  log.seals === "trusted" &&
  hasMasterKey &&
  isSealed &&
  pausedWebhooks === 0 &&
  (!audio || audio.missing.length + audio.damaged.length === 0);

const backupText = (taken: TakenBackup & { directory: string }): string => {
  const { directory, manifest, audio, keyId, warnings } = taken;
  return fields({
    backup: directory,
    ...logFields(manifest),
    audio: audio ? copiedText(audio) : "not included",
    damaged: audio && namesText(audio.damaged),
    "master key": keyId === undefined ? "not included: keep it elsewhere" : `${keyId}, encrypted`,
    warning: warningText(warnings),
  });
};

const warningText = (warnings: readonly string[]): string | undefined =>
  warnings.length === 0 ? undefined : warnings.join("; ");

const copiedText = ({ objects, bytes, copied, repaired, gone }: CopiedAudio): string =>
  [
    `${count(objects)} objects of ${count(bytes)} bytes`,
    `${count(copied)} of them copied now`,
    ...(repaired === 0 ? [] : [`${count(repaired)} damaged copies replaced`]),
    ...(gone === 0 ? [] : [`${count(gone)} of the backup before are no longer in the store`]),
  ].join(", ");

const verifiedTexts: Readonly<Record<VerifiedLog["seals"], string>> = {
  trusted: "the seals are signed with the log's key",
  untrusted:
    "only with the keys in the backup itself: if it was changed, this does not show it. Verify the log with `voxledger audit verify --key`",
  unsealed:
    "there is no seal: only the form of the log was checked. If it had a seal before, the backup was changed",
};

const restoredText = (restored: RestoredBackup & { directory: string }): string => {
  const { directory, manifest, log, audio, pausedWebhooks, isSealed, hasMasterKey, warnings } = restored;
  const unsealed = log.unsealed ? `; ${count(log.unsealed)} later events have no seal` : "";
  return fields({
    restored: directory,
    ...logFields(manifest),
    verified: `${verifiedTexts[log.seals]}${unsealed}`,
    archives: archivesText(log.missingArchives),
    audio: audio ? restoredAudioText(audio) : "not restored",
    missing: audio && namesText(audio.missing),
    damaged: audio && namesText(audio.damaged),
    "master key": hasMasterKey
      ? "found"
      : `missing: put the key ${manifest.masterKeyId} into DATA_DIR/master.key, or set MASTER_KEY`,
    seal: isSealed
      ? undefined
      : "none states the restore, so that it explains no missing seal: once you have the key, repeat the command with --log-restored --no-audio; if you have replaced it, also with --without-key",
    webhooks:
      pausedWebhooks === 0
        ? undefined
        : `${pausedWebhooks} paused: continue each with \`voxledger webhook change ID --enable\``,
    warning: warningText(warnings),
  });
};

const archivesText = (archives: readonly MissingArchive[]): string | undefined =>
  archives.length === 0
    ? undefined
    : archives
        .map(
          ({ file, journals }) => `${count(journals)} journals are only in the file with the SHA-256 ${file}`,
        )
        .join("; ");

const restoredAudioText = ({ objects, restored, deleted, missing, damaged }: RestoredAudio): string =>
  [
    `${count(restored)} of ${count(objects)} objects`,
    ...(deleted === 0 ? [] : [`${count(deleted)} stay deleted`]),
    ...(missing.length === 0 ? [] : [`${count(missing.length)} are missing in the backup`]),
    ...(damaged.length === 0 ? [] : [`${count(damaged.length)} are damaged`]),
  ].join(", ");

const namesText = (names: readonly string[]): string | undefined =>
  names.length === 0 ? undefined : names.join(" ");

const logFields = ({ takenAt, position, log, newestSeal }: Manifest) => ({
  taken: takenAt,
  position: count(position),
  log: log ? `${count(log.bytes)} bytes` : "not included: back it up with the server's own tools",
  "newest seal": newestSeal ? `of ${newestSeal.at}, up to position ${count(newestSeal.position)}` : "none",
});
