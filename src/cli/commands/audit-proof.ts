import { createReadStream } from "node:fs";
import { open, readFile, rm } from "node:fs/promises";
import type { Command } from "commander";
import { NotEndorsed, NotGenuine, NotSealed } from "../../domain/ledger/proof/not-genuine.ts";
import type { KeptSeal } from "../../domain/ledger/proof/seal-check.ts";
import { type SealPeriod, shortKey } from "../../domain/ledger/proof/seal-keys.ts";
import { createNoteVerifier } from "../../domain/ledger/seals/note-signer.ts";
import { type NoteVerifier, parseCheckpoint, parseNote } from "../../domain/ledger/seals/seal-note.ts";
import type { ExportAudit } from "../../ledger/proof/audit-export.ts";
import {
  type VerifiedExport,
  type VerifiedLog,
  type VerifyOptions,
  verifyExport,
} from "../../ledger/proof/audit-verify.ts";
import { operator, print, Remarked, type WithArchives, withArchives } from "../command.ts";

/** The services that the commands call. */
export interface AuditProof {
  readonly exportAudit: ExportAudit;
  /**
   * @throws {NotGenuine}
   * @throws {Unavailable}
   * @throws {BadSetting}
   */
  verifyLog(options: VerifyOptions): Promise<VerifiedLog>;
  /**
   * The verifier keys in DATA_DIR.
   * @throws {BadSetting}
   */
  verifierKeys(): Promise<readonly NoteVerifier[]>;
}

/** Adds `export` and `verify` to the command `audit`. */
export const registerAuditProofCommands = (program: Command, proof: AuditProof): void => {
  const audit = program.commands.find((command) => command.name() === "audit") as Command;
  audit
    .command("export <file>")
    .description("seal the log and write it to a new file that can be verified offline")
    .action(async (file: string, _: object, command: Command) => {
      await writeNew(file, proof.exportAudit(operator));
      print(command, { file }, () => `exported to ${file}`);
    });
  withArchives(audit.command("verify [file]"))
    .description(
      "verify an export, or without a file the log: exit code 0 if it is genuine, 1 if not, 2 if it is genuine, with remarks, or was restored from a backup",
    )
    .option(
      "--key <key>",
      "the verifier key, or several with spaces between them; keys that they endorsed are accepted, too; default: DATA_DIR/seal.pub",
    )
    .option("--seal <file>", "a signed checkpoint that you have kept: the log must contain it")
    .action(async (file: string | undefined, _: object, command: Command) => {
      // commander passes `--key` and `--archive` to `audit`, which has options of these names too
      const { key, seal, archive = [] } = command.optsWithGlobals<VerifyArguments>();
      const keys = key === undefined ? await proof.verifierKeys() : parseKeys(key);
      const kept = seal === undefined ? undefined : await readKept(seal);
      const archives = archive.map((path) => ({ path, open: () => createReadStream(path) }));
      const options = { keys, kept, archives };
      const verified = file
        ? verifyExport(() => createReadStream(file), options)
        : proof.verifyLog(options).catch(explainNotSealed);
      const summary = await verified.catch(explain);
      print(command, summary, summaryText);
      const { missing, missingArchives, remarks } = summary;
      if (missing || missingArchives.length > 0 || remarks.length > 0) throw new Remarked();
    });
};

interface VerifyArguments extends WithArchives {
  readonly key?: string;
  readonly seal?: string;
}

/** @throws if one of them is not a verifier key */
export const parseKeys = (keys: string): NoteVerifier[] =>
  keys
    .trim()
    .split(/\s+/)
    .map((line) => {
      const key = createNoteVerifier(line);
      if (!key) throw new Error("--key is not a verifier key: name+id+key");
      return key;
    });

/**
 * Removes what an interrupted export has written.
 * @throws if the file exists
 */
const writeNew = async (path: string, text: AsyncIterable<string>): Promise<void> => {
  await using file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
};

const readKept = async (path: string): Promise<KeptSeal> => {
  const note = await readFile(path, "utf8");
  const checkpoint = parseCheckpoint(parseNote(note)?.text ?? "");
  if (!checkpoint) throw new Error(`${path} is not a signed checkpoint`);
  return { ...checkpoint, note };
};

/** The log of a new installation has no seal yet. */
const explainNotSealed = (error: unknown): never => {
  if (!(error instanceof NotSealed)) throw error;
  const message =
    "not verified: the log has no seal. The running service seals the log every hour; `voxledger audit export` seals it at once. If the log had a seal before, it is not genuine";
  throw new Error(message, { cause: error });
};

const explain = (error: unknown): never => {
  if (!(error instanceof NotGenuine)) throw error;
  const verdict = error instanceof NotEndorsed ? "not verified" : "not genuine";
  throw new Error(`${verdict}: ${error.message}`, { cause: error });
};

const reasons: Readonly<Record<SealPeriod["trust"], string>> = {
  given: "was given",
  endorsed: "was endorsed",
  unknown: "was not given",
};

/** Says which key sealed which part of the log. */
const periodText = ({ key, trust, endorsedBy, position }: SealPeriod, index: number): string => {
  const reason = endorsedBy === undefined ? reasons[trust] : `${shortKey(endorsedBy)} endorsed`;
  return `${index === 0 ? "sealed" : "then"} up to position ${position} by ${shortKey(key)}, which ${reason}`;
};

/** Summarizes an export or the log. Only the log has events that no seal covers. */
const summaryText = ({
  events,
  seals,
  sealed,
  unsealed,
  uncovered,
  partlyCovered,
  keys,
  remarks,
  missing,
  missingArchives,
}: VerifiedExport & Partial<VerifiedLog>): string => {
  const isRemarked = remarks.length > 0 || missingArchives.length > 0;
  const result = missing
    ? `restored from a backup at position ${missing.position}; ${missing.events} events are missing that the kept seal covers. The rest is consistent`
    : `genuine${isRemarked ? ", with remarks" : ""}`;
  const genuine = `${result}: ${events} events and ${seals} seals, the last at ${sealed.at} up to position ${sealed.position}`;
  const partly = `sealed by an earlier release: ${partlyCovered} events of journals, of which only type and data are proven`;
  return [
    genuine,
    ...(keys.length === 1 ? [] : keys.map(periodText)),
    ...(partlyCovered === 0 ? [] : [partly]),
    ...(uncovered === undefined
      ? []
      : [
          `not sealed yet: ${unsealed} later events. They agree with the others, but a forged one among them, or the removal of the last ones, would not be found`,
          `never sealed: ${uncovered} events of trimmed streams, which grant nothing. Only their form was checked`,
        ]),
    ...missingArchives.map(
      ({ file, journals }) =>
        `remark: ${journals} journals are in the archive with the SHA-256 ${file}; their totals were taken from their postings. Verify them with --archive`,
    ),
    ...remarks.map((remark) => `remark: ${remark}`),
  ].join("\n");
};
