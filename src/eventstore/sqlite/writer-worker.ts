import type { DatabaseSync } from "node:sqlite";
import { workerData } from "node:worker_threads";
import { createAppend } from "./append.ts";
import { emptyWriteAheadLog, openForWriting, prepareFind, retryWhileBusy } from "./database.ts";
import type { DatabaseFile } from "./database-file.ts";
import type { AppendRequest, AppendResponse, WriterProtocol } from "./protocol.ts";
import { createStreamTable } from "./stream-table.ts";
import {
  type Call,
  type Respond,
  type Service,
  serve,
  toFailure,
  type WorkerResponse,
} from "./worker-rpc.ts";

type WriterCall = Call<WriterProtocol>;

/**
 * The maximum number of events in one transaction: enough to share the cost of an fsync, and few
 * enough that the first one does not wait for long.
 */
const maxEventsPerGroup = 2000;

const startWriter = (respond: Respond): Service<WriterProtocol> => {
  const { db, assertFileExists } = openForWriting(workerData as DatabaseFile);
  const execute = createExecute(db);
  let waiting: WriterCall[] = [];
  let isScheduled = false;

  const takeGroup = (): WriterCall[] => {
    let events = 0;
    const end = waiting.findIndex((call) => {
      events += call.kind === "append" ? call.request.ids.length : 1;
      return events > maxEventsPerGroup;
    });
    const group = end === -1 ? waiting : waiting.slice(0, Math.max(1, end));
    waiting = waiting.slice(group.length);
    return group;
  };

  /**
   * Commits a group of calls in one transaction, with one fsync. If it fails, all calls of the
   * group fail.
   */
  const commitGroup = (): WorkerResponse[] => {
    try {
      assertFileExists();
      retryWhileBusy(() => db.exec("BEGIN IMMEDIATE"));
    } catch (error) {
      // All waiting calls fail now, because later groups would wait as long for the same lock.
      return failAll(waiting.splice(0), error);
    }
    const group = takeGroup();
    try {
      const responses = execute(group);
      db.exec("COMMIT");
      assertFileExists(); // A commit to an unlinked file is lost.
      if (group.some(({ kind }) => kind === "delete")) emptyWriteAheadLog(db);
      return responses;
    } catch (error) {
      rollBack(db);
      return failAll(group, error);
    }
  };

  const commitNext = (): void => {
    respond(commitGroup());
    if (waiting.length > 0) setImmediate(commitNext);
    else isScheduled = false;
  };

  return {
    // `setImmediate`: all calls that arrived during the last commit are received before the next
    // group is taken.
    receive(calls) {
      waiting = waiting.concat(calls);
      if (!isScheduled) setImmediate(commitNext);
      isScheduled = true;
    },
    close() {
      while (waiting.length > 0) respond(commitGroup());
      db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      db.close();
    },
  };
};

/** Returns a function that executes calls within the open transaction. */
const createExecute = (db: DatabaseSync) => {
  const streams = createStreamTable(db);
  const append = createAppend(db, streams);
  const newest = prepareFind<{ created: number }>(
    db,
    "SELECT created FROM events ORDER BY position DESC LIMIT 1",
  );
  // The probe needs more pages than a small append. Its content is random, because SQLite skips
  // unchanged pages.
  const probe = db.prepare("REPLACE INTO probe (id, filler) VALUES (1, randomblob(32768))");

  const appendAndTrim = (request: AppendRequest, created: number): AppendResponse => {
    const row = streams.find(request.stream);
    const response = append(row, request, created);
    if ("revision" in response && response.revision > row.revision)
      streams.trim(row, response.revision, created);
    return response;
  };

  const retain = (
    { stream, retention }: WriterProtocol["retain"]["request"],
    now: number,
  ): WriterProtocol["retain"]["response"] => {
    streams.setRetention(stream, retention);
    const row = streams.find(stream);
    return streams.trim(row, row.revision, now);
  };

  return (calls: readonly WriterCall[]): WorkerResponse[] => {
    // Times within the log never decrease, even if a process's clock is set back, unless an
    // operator has corrected them.
    let created = newest()?.created ?? 0;
    return calls.map((call) => {
      if (call.kind === "append") {
        const { now, isCorrection } = call.request;
        created = isCorrection ? now : Math.max(created, now);
        return { id: call.id, response: appendAndTrim(call.request, created) };
      }
      if (call.kind === "probe") probe.run();
      if (call.kind === "delete") streams.deleteEvents(call.request.stream);
      if (call.kind === "retain") return { id: call.id, response: retain(call.request, created) };
      return { id: call.id, response: undefined };
    });
  };
};

const failAll = (calls: readonly WriterCall[], error: unknown): WorkerResponse[] => {
  const failure = toFailure(error);
  return calls.map(({ id }) => ({ id, failure }));
};

const rollBack = (db: DatabaseSync): void => {
  try {
    if (db.isTransaction) db.exec("ROLLBACK");
  } catch {
    // A failed disk may refuse a rollback too. The next BEGIN reports it.
  }
};

serve(startWriter);
