import { isDeepStrictEqual } from "node:util";
import type { Logger } from "pino";
import { type SqliteThreads, startThreads } from "../eventstore/sqlite/threads.ts";
import type { Writer } from "../eventstore/sqlite/writer.ts";
import { type Settings, withSettingName } from "../settings/read-settings.ts";
import { helperOptions } from "../subprocess/subprocess-host.ts";
import { superviseHostProcess } from "../subprocess/supervisor.ts";
import { openEventLogFile } from "./event-log/event-log-file.ts";

/**
 * Starts the process of the speech tools and the threads of the event store. They need few modules,
 * and start on other cores while this thread loads the modules of the service, which takes as long.
 * `close` ends those that the service has not closed.
 * @throws {BadSetting} if the files of the event store cannot be opened
 */
export const startAhead = async (settings: Settings, log: Pick<Logger, "warn">) => {
  await using resources = new AsyncDisposableStack();
  const options = helperOptions({ concurrency: settings.synthesisConcurrency });
  const helper = superviseHostProcess(options, (sentence, end) => log.warn(end, sentence));
  resources.defer(helper.close);
  let failure: unknown;
  helper.current().catch((error: unknown) => {
    failure = error;
  });
  const superviseHelper: typeof superviseHostProcess = (given) => {
    if (!isDeepStrictEqual(given, options))
      throw new Error("the speech tools were started with other options");
    /** The service reports the failure of the first start, and does not repeat it at once. */
    const current: typeof helper.current = async () => {
      const failed = failure;
      failure = undefined;
      if (failed !== undefined) throw failed;
      return await helper.current();
    };
    return { ...helper, current };
  };
  const threads = await startEventStoreThreads(settings);
  if (threads) resources.defer(threads.close);
  const started = resources.move();
  return { superviseHelper, threads, close: () => started.disposeAsync() };
};

/**
 * Starts the threads of the embedded event store. Resolves with undefined if the log is elsewhere.
 * `writer`: the writer of the log, if it is in another process. Then nothing is created: a process
 * that is started again must not begin a new log when the data was moved away.
 * @throws {BadSetting}
 */
export const startEventStoreThreads = async (
  settings: Settings,
  writer?: Writer,
): Promise<SqliteThreads | undefined> => {
  const { eventStore } = settings;
  if (!writer || eventStore.kind !== "sqlite")
    return await openEventLogFile(settings, (path) => startThreads({ path }));
  return await withSettingName("EVENT_STORE", startThreads({ path: eventStore.path, writer }));
};
