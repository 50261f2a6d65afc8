import packageJson from "../../package.json" with { type: "json" };
import { usageAccountPrefix } from "../domain/ledger/accounts/usage-account.ts";
import { journalRegistryStream } from "../domain/ledger/journal/journal-registry.ts";
import {
  allowMissingJournals,
  beginLog,
  formatRefusal,
  formatRefusal1,
  logDecider,
  logStream,
  servingOfFormat1,
} from "../domain/log-format.ts";
import type { CommandHandler } from "../eventstore/command-handler.ts";
import { type EventStore, readEvent } from "../eventstore/event-store.ts";
import { readBatches } from "../eventstore/follow-events.ts";

/**
 * Checks that this version can read the log. Reads a few events, however long the log is. `store`
 * must return events as they are stored.
 * @throws {UnsupportedLogFormat}
 * @throws {EventStoreUnavailable}
 */
export const requireLogFormat = async (store: EventStore): Promise<void> => {
  let begin: number | undefined;
  let isStated = false;
  for await (const event of store.readStream(logStream)) {
    const refusal = formatRefusal(event);
    if (refusal) throw refusal;
    if (event.type === "LogFormatRecorded") isStated = true;
    begin ??= event.position;
  }
  // A log with servings always has events in this stream: the service writes them first.
  if (begin !== undefined && !isStated && (await beginsWithFormat1(store, begin))) throw formatRefusal1();
};

/**
 * Versions that state no format wrote format 1 or 2. Versions of format 2 record the first journal
 * before anything is posted to an account, so a serving in an account before the first journal is
 * of format 1.
 */
const beginsWithFormat1 = async (store: EventStore, begin: number): Promise<boolean> => {
  const journal = await readEvent(store, journalRegistryStream);
  const end = journal?.position ?? Number.POSITIVE_INFINITY;
  for await (const batch of readBatches(store, { prefixes: [usageAccountPrefix], fromExclusive: begin })) {
    const [first] = batch.events;
    if (first) return first.type === servingOfFormat1;
    if (batch.position >= end) return false;
  }
  return false;
};

const { version } = packageJson;

/**
 * Returns the log's id, which the first process that writes to the log chooses. If it has none,
 * `newId` becomes its id. Records the format of a log that states none: `requireLogFormat` must
 * have checked it.
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

/**
 * Records that archived journals may be missing. Versions of format 2 refuse the log from then on.
 * @throws {Unavailable}
 */
export const raiseLogFormat = async (handler: CommandHandler, at: string): Promise<void> => {
  await handler.execute(logDecider, logStream, (log) => allowMissingJournals(log, { version, at }), {
    actor: "system",
  });
};
