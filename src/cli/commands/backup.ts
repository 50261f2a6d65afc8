import type { Command } from "commander";
import type { CopiedAudio } from "../../application/backup/copy-audio.ts";
import type { Manifest } from "../../application/backup/manifest.ts";
import { count, fields } from "../columns.ts";
import { print, Remarked } from "../command.ts";
import { readPassphrase } from "../passphrase.ts";

interface TakenBackup {
  readonly manifest: Manifest;
  /** Undefined if no audio was copied. */
  readonly audio: CopiedAudio | undefined;
  /** The id of the master key, if it is part of the backup. */
  readonly keyId: string | undefined;
}

/**
 * Writes a backup into a directory, which may hold an earlier one of the same log.
 * `readPassphrase`: given if the backup is to include the master key.
 * @throws {BadBackup}
 * @throws {BadSetting}
 * @throws {EventStoreUnavailable}
 */
export type TakeBackup = (
  directory: string,
  options: { readonly hasAudio: boolean; readonly readPassphrase: (() => Promise<string>) | undefined },
) => Promise<TakenBackup>;

interface RestoredBackup {
  readonly manifest: Manifest;
  readonly audio: CopiedAudio | undefined;
  /** The number of objects that the backup had when it was taken, and lacks now. */
  readonly missingAudio: number;
  readonly pausedWebhooks: number;
  /** False if the service will not start before it is given the log's master key. */
  readonly hasMasterKey: boolean;
}

/**
 * Restores a backup. `readPassphrase` is called if the master key is in the backup alone.
 * @throws {BadBackup}
 * @throws {BadSetting}
 * @throws {NotGenuine}
 */
export type RestoreBackup = (
  directory: string,
  options: { readonly hasAudio: boolean; readonly readPassphrase: () => Promise<string> },
) => Promise<RestoredBackup>;

interface Options {
  readonly audio: boolean;
  readonly withKey?: true;
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
    .option("--with-key", "include the master key, encrypted under a passphrase")
    .option(...passphraseFile)
    .action(async (directory: string, options: Options, command: Command) => {
      const { audio: hasAudio, withKey, passphraseFile: file } = options;
      const ask = withKey && (() => readPassphrase({ file, isNew: true }));
      const taken = await takeBackup(directory, { hasAudio, readPassphrase: ask });
      print(command, { directory, ...taken }, backupText);
      if (taken.audio?.damaged) throw new Remarked();
    });
  program
    .command("restore <directory>")
    .description(
      "restore a backup into an empty DATA_DIR: exit code 0 if it is complete, 2 if something is left to do",
    )
    .option("--no-audio", "leave the audio store as it is")
    .option(...passphraseFile)
    .action(
      async (directory: string, { audio: hasAudio, passphraseFile: file }: Options, command: Command) => {
        const ask = () => readPassphrase({ file, isNew: false });
        const restored = await restoreBackup(directory, { hasAudio, readPassphrase: ask });
        print(command, { directory, ...restored }, restoredText);
        if (!isComplete(restored)) throw new Remarked();
      },
    );
};

const isComplete = ({ hasMasterKey, pausedWebhooks, audio, missingAudio }: RestoredBackup): boolean =>
  hasMasterKey && pausedWebhooks === 0 && missingAudio === 0 && !audio?.damaged;

const backupText = ({ directory, manifest, audio, keyId }: TakenBackup & { directory: string }): string =>
  fields({
    backup: directory,
    ...logFields(manifest),
    audio: audio ? audioText(audio) : "not included",
    "master key": keyId === undefined ? "not included: keep it elsewhere" : `${keyId}, encrypted`,
  });

const restoredText = ({
  directory,
  manifest,
  audio,
  missingAudio,
  pausedWebhooks,
  hasMasterKey,
}: RestoredBackup & { directory: string }): string =>
  fields({
    restored: directory,
    ...logFields(manifest),
    audio: audio ? audioText(audio) : "not restored",
    "missing audio": missingAudio === 0 ? undefined : `${count(missingAudio)} objects of the backup`,
    "master key": hasMasterKey
      ? "found"
      : `missing: put the key ${manifest.masterKeyId} into DATA_DIR/master.key, or set MASTER_KEY`,
    webhooks:
      pausedWebhooks === 0
        ? undefined
        : `${pausedWebhooks} paused: continue each with \`voxledger webhook change ID --enable\``,
  });

const logFields = ({ takenAt, position, log, newestSeal }: Manifest) => ({
  taken: takenAt,
  position: count(position),
  log: log ? `${count(log.bytes)} bytes` : "not included: back it up with the server's own tools",
  "newest seal": newestSeal ? `of ${newestSeal.at}, up to position ${count(newestSeal.position)}` : "none",
});

const audioText = ({ objects, bytes, copied, damaged }: CopiedAudio): string => {
  const bad = damaged === 0 ? "" : `; ${count(damaged)} are damaged, and were left out`;
  return `${count(objects)} objects of ${count(bytes)} bytes, ${count(copied)} of them copied now${bad}`;
};
