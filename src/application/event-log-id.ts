import type { CommandHandler } from "../eventstore/command-handler.ts";

/** The log's id, given by the first process that writes to it. Snapshots are stored under this id. */
type LogEvent = { readonly type: "LogBegun"; readonly data: { logId: string; at: string } };

const stream = "log";

const decider = {
  initial: (): string | undefined => undefined,
  evolve: (logId: string | undefined, { type, data }: LogEvent): string | undefined =>
    type === "LogBegun" ? (logId ?? data.logId) : logId,
};

/** The log's id; `newId` becomes it if it has none. @throws {Unavailable} */
export const obtainEventLogId = async (
  handler: CommandHandler,
  newId: string,
  at: string,
): Promise<string> => {
  const { state } = await handler.execute(
    decider,
    stream,
    (logId): LogEvent[] => (logId === undefined ? [{ type: "LogBegun", data: { logId: newId, at } }] : []),
    { actor: "system" },
  );
  return state ?? newId;
};
