import packageJson from "../../../package.json" with { type: "json" };
import { createRemoteHelper } from "../../subprocess/shared-helper.ts";
import { createWorkerShares } from "../../workers/limit-shares.ts";
import type { Port } from "../../workers/port.ts";
import { openRemoteResource } from "../../workers/remote-resource.ts";
import { connectToPrimary, firstSocketFd } from "../../workers/worker-process.ts";
import type { Service } from "../service.ts";
import type { CallsToPrimary, CallsToWorker, WorkerArgument } from "./calls.ts";
import { openRemoteWriter } from "./remote-writer.ts";
import type { AskOthers, Shared } from "./shared.ts";

type Primary = Port<CallsToPrimary, CallsToWorker>;

/** The functions of this process that the primary calls. */
interface WorkerOptions {
  /** Ends the process when its requests are complete. */
  readonly close: () => Promise<void>;
  readonly metrics: () => Promise<string>;
  /** Returns undefined until the service serves. */
  readonly service: () => Pick<Service, "recoverJournal" | "untilVisible" | "report"> | undefined;
}

/**
 * Connects this process with the primary that has started it.
 * @throws if the primary has another version
 */
export const joinWorkers = ({ close, metrics, service }: WorkerOptions) => {
  // A worker ignores these signals, which a terminal sends to all its processes: the primary gets
  // them too, and decides when workers end.
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => {});
  const { place, count, sockets, version } = JSON.parse(process.argv[2] ?? "{}") as WorkerArgument;
  requireVersion(version);
  /** Returns the service. The primary asks only workers that serve. */
  const running = () => {
    const started = service();
    if (!started) throw new Error("it does not serve yet");
    return started;
  };
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
    ping: () => {},
    metrics,
    report: (kind) => running().report(kind),
    untilVisible: (position) => running().untilVisible(position),
    recoverJournals: async (journals) => {
      for (const journal of journals) await running().recoverJournal(journal);
    },
  });
  const [http, wyoming] = sockets.map((_, index) => ({ fd: firstSocketFd + index }));
  const shared: Shared = {
    superviseHelper: helper.supervise,
    openShares: limits.open,
    openSharedResource: openRemoteResource(primary),
    sockets: { ...(http && { http }), ...(wyoming && { wyoming }) },
    isFirst: place === 1,
    isReplaced: () => isReplaced,
    count,
    askOthers: askOthersThrough(primary, count - 1),
    untilOthersShow: (position) => primary.call("untilOthersShow", position),
    onJournal: (journal, isOpen) => primary.post("journal", { journal, isOpen }),
  };
  return { place, shared, writer: openRemoteWriter(primary), primary };
};

/** Throws if the files were replaced while the primary runs: its calls may differ. */
const requireVersion = (ofPrimary: string): void => {
  const { version } = packageJson;
  if (ofPrimary === version) return;
  throw new Error(
    `the service runs version ${ofPrimary}, and its files have version ${version}: restart the service`,
  );
};

/** The primary itself responds in less time, unless it is frozen. */
const askTimeoutMs = 5_000;

const askOthersThrough =
  (primary: Primary, others: number): AskOthers =>
  async (kind) =>
    (await primary
      .call("askOthers", kind, { withinMs: askTimeoutMs })
      .catch(() => ({ reports: [], missing: others }))) as never;
