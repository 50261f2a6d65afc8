import { workerData } from "node:worker_threads";
import { openForReading, prepareGet } from "./database.ts";
import type { DatabaseFile } from "./database-file.ts";
import { eventAt, logPages, streamPages } from "./pages.ts";
import type { Answer, Call, LogPage, LogRequest, ReaderProtocol } from "./protocol.ts";
import { toFailure } from "./protocol.ts";
import { serve } from "./worker-port.ts";

/** How often a process looks for what other processes appended, in milliseconds; only while someone waits for it. */
const pollMs = 20;

interface Held {
  readonly id: number;
  readonly request: LogRequest;
}

serve<ReaderProtocol>((reply) => {
  const { db, assertFileExists } = openForReading(workerData as DatabaseFile);
  const streamPage = streamPages(db);
  const logPage = logPages(db);
  const event = eventAt(db);
  /** Changes when any other connection, here or in another process, has committed. */
  const dataVersion = prepareGet<{ data_version: number }>(db, "PRAGMA data_version");
  const held = new Map<number, Held>();
  let seen = 0;
  let polling: NodeJS.Timeout | undefined;

  const readLog = (id: number, request: LogRequest): Answer[] => {
    const page = logPage(request);
    if (!request.wait || page.position > request.after) return [{ id, answer: page }];
    held.set(request.subscriptionId, { id, request });
    return [];
  };

  const answered = (id: number, answer: () => Answer[]): Answer[] => {
    try {
      assertFileExists();
      return answer();
    } catch (error) {
      return [{ id, failure: toFailure(error) }];
    }
  };

  const lookAgain = (): Answer[] => {
    seen = dataVersion().data_version;
    const waiting = [...held.values()];
    held.clear();
    return waiting.flatMap(({ id, request }) => answered(id, () => readLog(id, request)));
  };

  const forget = (ticket: number): Answer[] => {
    const found = held.get(ticket);
    held.delete(ticket);
    return found === undefined ? [] : [{ id: found.id, answer: emptyPage(found.request) }];
  };

  const perform = (call: Call<ReaderProtocol>): Answer[] => {
    switch (call.kind) {
      case "stream":
        return [{ id: call.id, answer: streamPage(call.request) }];
      case "log":
        return readLog(call.id, call.request);
      case "event":
        return [{ id: call.id, answer: event(call.request) }];
      case "forget":
        return forget(call.request);
      case "wake":
        return lookAgain();
      case "probe":
        return [{ id: call.id, answer: undefined }];
    }
  };

  const send = (answers: readonly Answer[]): void => {
    if (answers.length > 0) reply(answers);
    if (held.size > 0) polling ??= setInterval(poll, pollMs);
    else {
      clearInterval(polling);
      polling = undefined;
    }
  };

  const isLost = (): boolean => {
    try {
      assertFileExists();
      return false;
    } catch {
      return true;
    }
  };

  const poll = (): void => {
    if (isLost() || dataVersion().data_version !== seen) send(lookAgain());
  };

  return {
    receive(calls) {
      for (const call of calls) send(answered(call.id, () => perform(call)));
    },
    close() {
      clearInterval(polling);
      db.close();
    },
  };
});

const emptyPage = ({ after }: LogRequest): LogPage => ({
  json: "[]",
  count: 0,
  position: after,
  head: after,
  strategy: "log",
});
