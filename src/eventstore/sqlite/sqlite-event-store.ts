import type { EpochMs } from "../../domain/time.ts";
import { createAppendBudget } from "../append-budget.ts";
import {
  type EventStore,
  EventStoreDamaged,
  type NewEvent,
  type RecordedEvent,
  WrongExpectedRevision,
} from "../event-store.ts";
import {
  maxEventBytes,
  stringifyObject,
  validateEventIds,
  validateRetention,
  validateWrite,
} from "../event-validation.ts";
import { readStream } from "./read-stream.ts";
import { openSubscriptions } from "./subscription.ts";
import { type SqliteThreads, startThreads } from "./threads.ts";

interface SqliteEventStoreOptions {
  /**
   * The database file. It and its directory are created if missing, accessible to the owner only.
   */
  readonly path: string;
  /** Opens an existing file, which may be write-protected, and refuses appends. Default: false. */
  readonly readOnly?: boolean;
  /** Default: `Date.now`. */
  readonly clock?: () => EpochMs;
  /** The threads for this file, if they have been started. `close` ends them. */
  readonly threads?: SqliteThreads | undefined;
}

/**
 * Opens the embedded event store: one SQLite file that several processes may share.
 * @throws {EventStoreUnavailable} if the file cannot be opened, is not a database, or is of a newer
 * release
 */
export const openSqliteEventStore = async (options: SqliteEventStoreOptions): Promise<EventStore> => {
  const { clock = Date.now, readOnly = false } = options;
  const threads = options.threads ?? (await startThreads(options));
  const { writer, reader } = threads;
  const subscriptions = openSubscriptions(reader);
  const withinBudget = createAppendBudget();

  const close = async (): Promise<void> => {
    subscriptions.close();
    await threads.close();
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
      validateWrite(stream, readOnly);
      const ids = validateEventIds(events);
      const bodies = events.map(serializeBody);
      const size = bodies.reduce((sum, body) => sum + body.length, 0);
      const isCorrection = events.some(({ metadata }) => metadata.clock === "corrected");
      const request = { stream, expected, ids, bodies, now: Math.floor(clock()), isCorrection };
      const response = await withinBudget(ids.length, size, () => writer.call("append", request));
      if ("conflictsWith" in response)
        throw new WrongExpectedRevision(stream, expected, response.conflictsWith);
      subscriptions.wake(stream);
      return response;
    },
    readStream: (stream, readOptions) => readStream(reader, stream, readOptions),
    async eventAt(position) {
      const json = await reader.call("event", position);
      return json === undefined ? undefined : (JSON.parse(json) as RecordedEvent);
    },
    subscribe: subscriptions.subscribe,
    async setRetention(stream, retention) {
      validateWrite(stream, readOnly);
      validateRetention(retention);
      while (!(await writer.call("retain", { stream, retention })));
    },
    async deleteStream(stream) {
      validateWrite(stream, readOnly);
      await writer.call("delete", { stream });
    },
    ping: () => (readOnly ? reader.call("probe", undefined) : writer.call("probe", undefined)),
    async checkIntegrity() {
      const damage = await reader.call("check", undefined);
      if (damage !== undefined) throw new EventStoreDamaged(`the event store's file is damaged: ${damage}`);
    },
    close,
  };
};

/**
 * The members `type`, `data` and `metadata` as JSON, without braces: see `AppendRequest`.
 * @throws {TypeError} if data or metadata is not a JSON object
 * @throws {RangeError} if they exceed 1 MiB
 */
const serializeBody = ({ type, data, metadata }: NewEvent): string => {
  const body = `"type":${JSON.stringify(String(type))},"data":${stringifyObject(data)},"metadata":${stringifyObject(metadata)}`;
  // A UTF-16 code unit takes at most three bytes in UTF-8: short bodies need no counting.
  if (body.length * 3 > maxEventBytes && Buffer.byteLength(body) > maxEventBytes) {
    throw new RangeError(`an event is limited to ${maxEventBytes} bytes`);
  }
  return body;
};
