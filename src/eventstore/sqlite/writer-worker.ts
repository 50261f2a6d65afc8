import { workerData } from "node:worker_threads";
import type { DatabaseFile } from "./database-file.ts";
import { failed, groupCommit } from "./group-commit.ts";
import type { Answer, Call, WriterProtocol } from "./protocol.ts";
import { openForWriting } from "./schema.ts";
import { serve } from "./worker-port.ts";

/** Events in one transaction: enough to spread an fsync thin, few enough to keep the first of them from waiting long. */
const eventsPerGroup = 2000;

serve<WriterProtocol>((reply) => {
  const { db, mustBeThere } = openForWriting(workerData as DatabaseFile);
  const { begin, commit } = groupCommit(db, mustBeThere);
  let waiting: Call<WriterProtocol>[] = [];
  let scheduled = false;

  const takeGroup = (): Call<WriterProtocol>[] => {
    let events = 0;
    const end = waiting.findIndex((call) => {
      events += call.kind === "append" ? call.request.ids.length : 1;
      return events > eventsPerGroup;
    });
    const group = end === -1 ? waiting : waiting.slice(0, Math.max(1, end));
    waiting = waiting.slice(group.length);
    return group;
  };

  const writeGroup = (): Answer[] => {
    try {
      begin();
    } catch (error) {
      // Who waits behind a lock that was not to be had is told now, not after as long a wait of their own.
      return failed(waiting.splice(0), error);
    }
    return commit(takeGroup());
  };

  const commitGroup = (): void => {
    reply(writeGroup());
    if (waiting.length > 0) setImmediate(commitGroup);
    else scheduled = false;
  };

  return {
    // What came while the last group was being written is received whole before the next group starts.
    receive(calls) {
      waiting = waiting.concat(calls);
      if (!scheduled) setImmediate(commitGroup);
      scheduled = true;
    },
    close() {
      while (waiting.length > 0) reply(writeGroup());
      db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      db.close();
    },
  };
});
