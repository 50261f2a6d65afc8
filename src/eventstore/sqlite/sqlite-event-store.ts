import { mkdir, open } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { createAppendBudget } from "../append-budget.ts";
import {
  type EventStore,
  EventStoreUnavailable,
  type RecordedEvent,
  WrongExpectedRevision,
} from "../event-store.ts";
import { validateRetention, validateStreamName } from "../event-validation.ts";
import { type DatabaseFile, findFile } from "./database-file.ts";
import type { ReaderProtocol, WriterProtocol } from "./protocol.ts";
import { toStored } from "./stored-event.ts";
import { readStream } from "./stream-reading.ts";
import { openSubscriptions } from "./subscription.ts";
import { openWorkerLink } from "./worker-link.ts";

export interface SqliteEventStoreOptions {
  /** The database's file; it and its folder are made when missing, for the owner alone. */
  readonly path: string;
  /** Opens what is there, also where nothing may be written; makes nothing and refuses to append. Default false. */
  readonly readOnly?: boolean;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number;
}

/**
 * Opens the embedded event store: one SQLite file that several processes may share. SQLite runs in two worker threads,
 * one that writes and one that reads, so that a slow disk or a lock held elsewhere never stops the event loop.
 * @throws {EventStoreUnavailable} when the file cannot be opened, is no database, or comes from a newer release.
 */
export const openSqliteEventStore = async (options: SqliteEventStoreOptions): Promise<EventStore> => {
  const { clock = Date.now, readOnly = false } = options;
  const path = resolve(options.path);
  const file = readOnly ? existingFile(path) : await makeFile(path);
  const writer = openWorkerLink<WriterProtocol>({
    entry: new URL("./writer-worker.ts", import.meta.url),
    workerData: file,
    send: "together",
  });
  const reader = openWorkerLink<ReaderProtocol>({
    entry: new URL("./reader-worker.ts", import.meta.url),
    workerData: file,
    send: "now",
  });
  const subscriptions = openSubscriptions(reader);
  const waiting = createAppendBudget();

  const mayWrite = (): void => {
    if (readOnly) throw new TypeError("the event store was opened for reading");
  };

  const close = async (): Promise<void> => {
    subscriptions.close();
    await reader.close();
    // Last, so that no reader keeps the log from being folded into the database.
    await writer.close();
  };

  try {
    if (!readOnly) await writer.call("ready", undefined);
    await reader.call("probe", undefined);
  } catch (error) {
    await close();
    throw error;
  }

  return {
    async append(stream, events, expected) {
      mayWrite();
      validateStreamName(stream);
      const { ids, bodies, bytes } = toStored(events);
      const leave = waiting.enter(ids.length, bytes);
      try {
        const answer = await writer.call("append", {
          stream,
          expected,
          ids,
          bodies,
          now: Math.floor(clock()),
        });
        if ("conflictsWith" in answer)
          throw new WrongExpectedRevision(stream, expected, answer.conflictsWith);
        subscriptions.logHasGrown();
        return answer;
      } finally {
        leave();
      }
    },
    readStream: (stream, readOptions = {}) => readStream(reader, stream, readOptions),
    async eventAt(position) {
      const json = await reader.call("event", position);
      return json === undefined ? undefined : (JSON.parse(json) as RecordedEvent);
    },
    subscribe: (subscribeOptions = {}) => subscriptions.subscribe(subscribeOptions),
    async setRetention(stream, retention) {
      mayWrite();
      validateStreamName(stream);
      validateRetention(retention);
      await writer.call("retain", { stream, retention });
    },
    ping: () => (readOnly ? reader.call("probe", undefined) : writer.call("probe", undefined)),
    close,
  };
};

/** SQLite would make the file readable to all; the journals beside it take over its mode. */
const makeFile = async (path: string): Promise<DatabaseFile> => {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await (await open(path, "a", 0o600)).close();
    return findFile(path);
  } catch (cause) {
    throw notOpened(cause);
  }
};

const existingFile = (path: string): DatabaseFile => {
  try {
    return findFile(path);
  } catch (cause) {
    throw notOpened(cause);
  }
};

/** The system's own message would tell the path. */
const notOpened = (cause: unknown): EventStoreUnavailable => {
  const { code } = cause as NodeJS.ErrnoException;
  const why = code === "ENOENT" ? "there is none" : code;
  return new EventStoreUnavailable(`the event store's file cannot be opened: ${why}`, { cause });
};
