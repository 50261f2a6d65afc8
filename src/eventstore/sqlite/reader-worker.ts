import { workerData } from "node:worker_threads";
import { openForReading, prepareGet } from "./database.ts";
import type { DatabaseFile } from "./database-file.ts";
import { eventAt, logPages, streamPages } from "./pages.ts";
import type { LogPage, LogRequest, ReaderProtocol } from "./protocol.ts";
import { type Answer, type Call, type Reply, type Service, serve, toFailure } from "./worker-rpc.ts";

type ReaderCall = Call<ReaderProtocol>;

/** How often to look for other processes' appends while a request waits. */
const pollMs = 20;

const startReader = (reply: Reply): Service<ReaderProtocol> => {
  const { db, assertFileExists } = openForReading(workerData as DatabaseFile);
  const readStreamPage = streamPages(db);
  const readLogPage = logPages(db);
  const readEvent = eventAt(db);
  /** Changes with every commit of another connection, in this process or another. */
  const dataVersion = prepareGet<{ data_version: number }>(db, "PRAGMA data_version");
  /** Requests that wait for events, by subscription. */
  const waiting = new Map<number, { readonly id: number; readonly request: LogRequest }>();
  let seenVersion = 0;
  let polling: NodeJS.Timeout | undefined;

  const readLog = (id: number, request: LogRequest): Answer[] => {
    const page = readLogPage(request);
    if (!request.wait || page.position > request.after) return [{ id, answer: page }];
    waiting.set(request.subscriptionId, { id, request });
    return [];
  };

  const orFailure = (id: number, read: () => Answer[]): Answer[] => {
    try {
      assertFileExists();
      return read();
    } catch (error) {
      return [{ id, failure: toFailure(error) }];
    }
  };

  const repeatWaiting = (): Answer[] => {
    seenVersion = dataVersion().data_version;
    const requests = [...waiting.values()];
    waiting.clear();
    return requests.flatMap(({ id, request }) => orFailure(id, () => readLog(id, request)));
  };

  const forget = (subscriptionId: number): Answer[] => {
    const found = waiting.get(subscriptionId);
    waiting.delete(subscriptionId);
    return found === undefined ? [] : [{ id: found.id, answer: emptyPage(found.request) }];
  };

  const answer = (call: ReaderCall): Answer[] => {
    switch (call.kind) {
      case "stream":
        return [{ id: call.id, answer: readStreamPage(call.request) }];
      case "log":
        return readLog(call.id, call.request);
      case "event":
        return [{ id: call.id, answer: readEvent(call.request) }];
      case "forget":
        return forget(call.request);
      case "wake":
        return repeatWaiting();
      case "probe":
        return [{ id: call.id, answer: undefined }];
    }
  };

  const send = (answers: readonly Answer[]): void => {
    if (answers.length > 0) reply(answers);
    if (waiting.size > 0) polling ??= setInterval(poll, pollMs);
    else {
      clearInterval(polling);
      polling = undefined;
    }
  };

  const isFileLost = (): boolean => {
    try {
      assertFileExists();
      return false;
    } catch {
      return true;
    }
  };

  const poll = (): void => {
    if (isFileLost() || dataVersion().data_version !== seenVersion) send(repeatWaiting());
  };

  return {
    receive(calls) {
      for (const call of calls) send(orFailure(call.id, () => answer(call)));
    },
    close() {
      clearInterval(polling);
      db.close();
    },
  };
};

const emptyPage = ({ after }: LogRequest): LogPage => ({
  json: "[]",
  count: 0,
  position: after,
  head: after,
  strategy: "log",
});

serve(startReader);
