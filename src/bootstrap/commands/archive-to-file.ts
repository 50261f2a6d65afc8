import { realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { readLastTimeOfServices } from "../../application/clock/last-time.ts";
import { raiseLogFormat } from "../../application/log-format.ts";
import { operator } from "../../cli/command.ts";
import type { ArchiveToFile } from "../../cli/commands/archive.ts";
import { exists } from "../../files/exists.ts";
import { createNewFile, openDurableFile } from "../../files/new-file.ts";
import { createArchiveJournals } from "../../ledger/archive/archive-journals.ts";
import { createDeleteArchived } from "../../ledger/archive/delete-archived.ts";
import type { Settings } from "../../settings/read-settings.ts";
import type { Machine } from "../clock/service-clock.ts";
import { readSealKeys } from "../event-log/seals.ts";
import { openSealedLog } from "./open-sealed-log.ts";

export const composeArchiveToFile =
  (readSettings: () => Settings, machine?: Machine): ArchiveToFile =>
  async (path, request) => {
    const settings = readSettings();
    await requireOtherFile(settings, path);
    const deletes = "deletes" in request && request.deletes;
    // A new file must be possible before anything is read or sealed.
    await using file = deletes && (await exists(path)) ? undefined : await createNewFile(path);
    await using log = await openSealedLog(settings, machine);
    const keys = await readSealKeys(settings.dataDir);
    const lastTime = await readLastTimeOfServices(log.store);
    const archives = createArchiveJournals({ ...log, keys, lastTime });
    if ("again" in request) {
      if (file) await archives.writeAgain(request.again, file);
      return { file: request.again };
    }
    const { before } = request;
    const archived = file
      ? await archives.archive({ before, file }, operator)
      : await archives.adopt({ before, file: await openDurableFile(path) }, operator);
    if (archived && !deletes) return archived;
    const deleteArchived = createDeleteArchived({
      ...{ ...log, keys },
      raiseFormat: () => raiseLogFormat(log.handler, new Date(log.clock()).toISOString()),
    });
    const deleted = await deleteArchived({ file: await openDurableFile(path), path }, operator);
    return { ...archived, ...deleted };
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
