import type { Command } from "commander";
import type { ArchivedJournals } from "../../ledger/archive/archive-journals.ts";
import { count } from "../columns.ts";
import { print } from "../command.ts";

/**
 * Archives the journals whose last event precedes the month (`yyyy-mm`) into a new file.
 * @throws as `ArchiveJournals` does
 * @throws if the file exists
 * @throws {BadSetting}
 */
export type ArchiveToFile = (before: string, path: string) => Promise<ArchivedJournals>;

/** Adds the command `archive`. */
export const registerArchiveCommand = (program: Command, archiveToFile: ArchiveToFile): void => {
  program
    .command("archive <file>")
    .description(
      "write old journals to a new file that `audit verify --archive` reads, and record its digest; the journals stay in the log",
    )
    .requiredOption(
      "--before <month>",
      "only journals whose last event precedes this month (UTC), such as 2026-01, and is older than 90 days",
    )
    .action(async (file: string, { before }: { readonly before: string }, command: Command) => {
      print(command, await archiveToFile(before, file), (archived) => archivedText(file, archived));
    });
};

const archivedText = (path: string, { file, journals, events, remaining }: ArchivedJournals): string =>
  [
    `archived to ${path}: ${count(journals.length)} journals with ${count(events)} events, SHA-256 ${file}`,
    ...(remaining === 0
      ? []
      : [`${count(remaining)} further journals qualify: archive them into another file`]),
  ].join("\n");
