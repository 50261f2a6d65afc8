import packageJson from "../../package.json" with { type: "json" };
import { beginLog, logDecider, logStream } from "../domain/log-format.ts";
import type { CommandHandler } from "../eventstore/command-handler.ts";

const { version } = packageJson;

/**
 * The log's id, given by the first process that writes to it; `newId` becomes it if it has none.
 * Records the format of a log that states none: `requireLogFormat` must have checked it.
 * @throws {Unavailable}
 */
export const obtainEventLogId = async (
  handler: CommandHandler,
  newId: string,
  at: string,
): Promise<string> => {
  const { state } = await handler.execute(
    logDecider,
    logStream,
    (log) => beginLog(log, { newId, version, at }),
    { actor: "system" },
  );
  return state.logId ?? newId;
};
