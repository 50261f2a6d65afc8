import type { DatabaseSync } from "node:sqlite";
import { appender } from "./append.ts";
import { retryWhileBusy } from "./busy.ts";
import type { Answer, AppendAnswer, AppendRequest, Call, WriterProtocol } from "./protocol.ts";
import { toFailure } from "./protocol.ts";
import { trimmer } from "./retention.ts";
import { optional } from "./row.ts";
import { streamTable } from "./streams.ts";

/** One transaction, one fsync, for a whole group of calls. Answers only what is durable; when it fails, all of it does. */
export const groupCommit = (db: DatabaseSync, mustBeThere: () => void) => {
  const streams = streamTable(db);
  const append = appender(db, streams);
  const trim = trimmer(db);
  const newest = optional<{ created: number }>(
    db,
    "SELECT created FROM events ORDER BY position DESC LIMIT 1",
  );

  // More pages than a small append takes. Random, because SQLite leaves out pages that would not change.
  const probe = db.prepare("REPLACE INTO probe (id, filler) VALUES (1, randomblob(32768))");

  const appendAt = (request: AppendRequest, created: number): AppendAnswer => {
    const row = streams.find(request.stream);
    const answer = append(row, request, created);
    if ("revision" in answer && answer.revision > row.revision) trim(row, answer.revision, created);
    return answer;
  };

  /** Time within the log never goes back, whatever this or another process's clock says. */
  const transact = (calls: readonly Call<WriterProtocol>[]): Answer[] => {
    let latest = newest()?.created ?? 0;
    return calls.map((call) => {
      if (call.kind === "append") {
        latest = Math.max(latest, call.request.now);
        return { id: call.id, answer: appendAt(call.request, latest) };
      }
      if (call.kind === "probe") probe.run();
      if (call.kind === "retain") streams.setRetention(call.request.stream, call.request.retention);
      return { id: call.id, answer: undefined };
    });
  };

  return {
    /** Takes the write lock, which another process may hold. @throws when it could not be had for long. */
    begin(): void {
      mustBeThere();
      retryWhileBusy(() => db.exec("BEGIN IMMEDIATE"));
    },
    commit(calls: readonly Call<WriterProtocol>[]): Answer[] {
      try {
        const answers = transact(calls);
        db.exec("COMMIT");
        mustBeThere(); // what went into a file that is gone is not recorded
        return answers;
      } catch (error) {
        rollBack(db);
        return failed(calls, error);
      }
    },
  };
};

export const failed = (calls: readonly Call<WriterProtocol>[], error: unknown): Answer[] => {
  const failure = toFailure(error);
  return calls.map(({ id }) => ({ id, failure }));
};

/** SQLite may have rolled back by itself already, and a broken disk may refuse even this. */
const rollBack = (db: DatabaseSync): void => {
  try {
    if (db.isTransaction) db.exec("ROLLBACK");
  } catch {
    // The next BEGIN tells.
  }
};
