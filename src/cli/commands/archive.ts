import { type Command, Option } from "commander";
import type { ArchivedJournals } from "../../ledger/archive/archive-journals.ts";
import type { DeletedJournals } from "../../ledger/archive/delete-archived.ts";
import { count } from "../columns.ts";
import { print } from "../command.ts";

/** `before`: `yyyy-mm`. `again`: the SHA-256 (hex) of a recorded archive. */
export type ArchiveRequest =
  | { readonly before: string; readonly deletes: boolean }
  | { readonly again: string };

/** What was archived and deleted. Only `file` if the file of an archive was written again. */
export type ArchiveResult = Pick<ArchivedJournals, "file"> & Partial<ArchivedJournals & DeletedJournals>;

/**
 * Archives the journals whose last event precedes the month into a new file, and deletes them if
 * that is requested. If the file exists, only what an earlier command has archived there is
 * deleted. Or writes the file of a recorded archive again.
 * @throws as `ArchiveJournals` and `DeleteArchived` do
 * @throws if the file exists, unless journals are to be deleted
 * @throws {BadSetting}
 */
export type ArchiveToFile = (path: string, request: ArchiveRequest) => Promise<ArchiveResult>;

interface Options {
  readonly before?: string;
  readonly delete?: boolean;
  readonly again?: string;
}

/** Adds the command `archive`. */
export const registerArchiveCommand = (program: Command, archiveToFile: ArchiveToFile): void => {
  program
    .command("archive <file>")
    .description(
      "write old journals to a new file that `audit verify --archive` reads, and record its digest; the journals stay in the log without --delete",
    )
    .option(
      "--before <month>",
      "only journals whose last event precedes this month (UTC), such as 2026-01, and is older than 90 days",
    )
    .option(
      "--delete",
      "verify the file and the log, and then delete the file's journals from the log for good; if the file exists, delete those that are in it",
    )
    .addOption(
      new Option(
        "--again <sha256>",
        "write the lost file of an archive again, whose journals are still in the log",
      ).conflicts(["before", "delete"]),
    )
    .action(async (file: string, options: Options, command: Command) => {
      print(command, await archiveToFile(file, requestOf(options, command)), (result) =>
        resultText(file, result),
      );
    });
};

const requestOf = ({ before, again, delete: deletes = false }: Options, command: Command): ArchiveRequest => {
  if (again !== undefined) return { again };
  return before === undefined
    ? command.error("error: name the month with --before, such as 2026-01")
    : { before, deletes };
};

const resultText = (
  path: string,
  { file, journals, events, remaining, deleted, kept = 0 }: ArchiveResult,
): string => {
  const archived =
    journals && events !== undefined
      ? [
          `archived to ${path}: ${count(journals.length)} journals with ${count(events)} events, SHA-256 ${file}`,
        ]
      : [];
  const again = journals || deleted !== undefined ? [] : [`written again to ${path}: SHA-256 ${file}`];
  const removed =
    deleted === undefined
      ? []
      : [`deleted from the log: ${count(deleted)} journals, which only ${path} has now (SHA-256 ${file})`];
  return [
    ...archived,
    ...again,
    ...removed,
    ...(kept === 0 ? [] : [`${count(kept)} journals stay, because a correction of the clock names them`]),
    ...(remaining ? [`${count(remaining)} further journals qualify: archive them into another file`] : []),
  ].join("\n");
};
