import { EventStoreUnavailable } from "../../eventstore/event-store.ts";
import type { Writer } from "../../eventstore/sqlite/writer.ts";
import { createRemoteHelper } from "../../subprocess/shared-helper.ts";
import { createWorkerShares } from "../../workers/limit-shares.ts";
import type { Port } from "../../workers/port.ts";
import { openRemoteResource } from "../../workers/remote-resource.ts";
import { connectToPrimary, firstSocketFd } from "../../workers/worker-process.ts";
import type { Service } from "../service.ts";
import type { CallsToPrimary, CallsToWorker, WorkerArgument } from "./calls.ts";
import type { AskOthers, Shared } from "./shared.ts";

type Primary = Port<CallsToPrimary, CallsToWorker>;

/** What the primary asks of the service in this process. */
interface WorkerOptions {
  /** Ends the process when its requests are complete. */
  readonly close: () => Promise<void>;
  readonly metrics: () => Promise<string>;
  /** Undefined until it serves. */
  readonly service: () => Pick<Service, "recoverJournal" | "untilVisible" | "report"> | undefined;
}

/** Connects this process with the primary that has started it. */
export const joinWorkers = ({ close, metrics, service }: WorkerOptions) => {
  // The primary gets them too, and tells when to end: a terminal signals all its processes.
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => {});
  const { place, count, sockets } = JSON.parse(process.argv[2] ?? "{}") as WorkerArgument;
  let isReplaced = false;
  const helper = createRemoteHelper({
    call: (kind, request) => primary.call(kind, request),
    post: (kind, request) => primary.post(kind, request),
  });
  const limits = createWorkerShares({
    workers: count,
    port: { post: (kind, request) => primary.post(kind, request) },
  });
  const primary: Primary = connectToPrimary<CallsToPrimary, CallsToWorker>({
    ...helper.handlers,
    ...limits.handlers,
    close: (reason) => {
      isReplaced = reason === "restart";
      void close();
    },
    metrics,
    report: async (kind) => {
      const running = service();
      if (!running) throw new Error("it does not serve yet");
      return await running.report(kind);
    },
    untilVisible: (position) => service()?.untilVisible(position),
    recoverJournals: async (journals) => {
      for (const journal of journals) await service()?.recoverJournal(journal);
    },
  });
  const [http, wyoming] = sockets.map((_, index) => ({ fd: firstSocketFd + index }));
  const shared: Shared = {
    writer: remoteWriter(primary),
    superviseHelper: helper.supervise,
    openShares: limits.open,
    openSharedResource: openRemoteResource(primary),
    sockets: { ...(http && { http }), ...(wyoming && { wyoming }) },
    isFirst: place === 1,
    isReplaced: () => isReplaced,
    count,
    askOthers: askOthersThrough(primary),
    untilOthersShow: (position) => primary.call("untilOthersShow", position),
    onJournal: (journal, isOpen) => primary.post("journal", { journal, isOpen }),
  };
  return { place, shared, primary };
};

/** A worker that does not respond is one of those that the primary reports as missing. */
const askOthersThrough =
  (primary: Primary): AskOthers =>
  async (kind) =>
    (await primary.call("askOthers", kind)) as never;

/** The writer of the primary. */
const remoteWriter = (primary: Primary): Writer => ({
  call: async (kind, request) => {
    try {
      return (await primary.call("write", { kind, request })) as never;
    } catch (cause) {
      throw new EventStoreUnavailable((cause as Error).message, { cause });
    }
  },
  close: async () => {},
});
