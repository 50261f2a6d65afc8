import { realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { operator } from "../../cli/command.ts";
import type { ArchiveToFile } from "../../cli/commands/archive.ts";
import { createNewFile } from "../../files/new-file.ts";
import { createArchiveJournals } from "../../ledger/archive/archive-journals.ts";
import type { Settings } from "../../settings/read-settings.ts";
import type { Machine } from "../clock/service-clock.ts";
import { readSealKeys } from "../event-log/seals.ts";
import { openSealedLog } from "./open-sealed-log.ts";

export const composeArchiveToFile =
  (readSettings: () => Settings, machine?: Machine): ArchiveToFile =>
  async (before, path) => {
    const settings = readSettings();
    await requireOtherFile(settings, path);
    await using file = await createNewFile(path);
    await using log = await openSealedLog(settings, machine);
    const keys = await readSealKeys(settings.dataDir);
    return await createArchiveJournals({ ...log, keys })({ before, file }, operator);
  };

/** SQLite keeps parts of the log in files beside it, which may not exist at the moment. */
const filesOfLog = ["", "-wal", "-shm", "-journal"];

const requireOtherFile = async ({ eventStore }: Settings, path: string): Promise<void> => {
  if (eventStore.kind !== "sqlite") return;
  const file = await locate(path);
  // The log's path may be a symbolic link. SQLite has its other files beside the target.
  const log = await realpath(eventStore.path).catch(() => locate(eventStore.path));
  if (filesOfLog.some((end) => file === `${log}${end}`)) throw new Error(`${path} is the event log itself`);
};

/** The path without symbolic links. The file need not exist. */
const locate = async (path: string): Promise<string> => {
  const folder = await realpath(dirname(path)).catch(() => dirname(path));
  return join(folder, basename(path));
};
