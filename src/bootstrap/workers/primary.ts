import type { Logger } from "pino";
import packageJson from "../../../package.json" with { type: "json" };
import type { Reports } from "../../application/health/combine-reports.ts";
import { repeatEvery } from "../../async/repeat.ts";
import { backgroundTime } from "../../async/time.ts";
import { openWriter } from "../../eventstore/sqlite/writer.ts";
import { nameListenSetting, type Settings, withSettingName } from "../../settings/read-settings.ts";
import { shareHelper } from "../../subprocess/shared-helper.ts";
import { createLimitDivision } from "../../workers/divide-limits.ts";
import { createSlotGrants } from "../../workers/grant-slots.ts";
import { bindListeningSocket, type ListeningSocket } from "../../workers/listening-socket.ts";
import type { Handlers, Port } from "../../workers/port.ts";
import {
  type CloseReason,
  type SupervisedWorker,
  superviseWorkers,
} from "../../workers/supervise-workers.ts";
import { forkWorker } from "../../workers/worker-process.ts";
import { openEventLogFile } from "../event-log/event-log-file.ts";
import { limitHeapGrowth } from "../heap-growth.ts";
import { closeOnSignal } from "../shutdown.ts";
import type { CallsToPrimary, CallsToWorker, WorkerArgument } from "./calls.ts";
import { serveWriter } from "./remote-writer.ts";
import { createJournalTakeOver } from "./take-over-journals.ts";

const forgetEveryMs = 30_000;

/** The deadlines of calls whose responses clients wait for: the worker may be frozen. */
const reportTimeoutMs = 2_500;
const metricsTimeoutMs = 5_000;
/**
 * The worker's own limit is five seconds. They begin when it gets the call, which may be late on a
 * busy machine.
 */
const visibleTimeoutMs = 10_000;

/** A worker has ended before it served, and has written the reason to standard error. */
class Explained extends Error {}

type WorkerPort = Port<CallsToWorker, CallsToPrimary>;

/**
 * How long a worker may take to close in addition to the drain, for the other steps of its
 * shutdown.
 */
const closeGraceMs = 10_000;

/**
 * Runs the service in several workers until SIGTERM or SIGINT. This process serves no requests: it
 * holds what all workers share, and replaces workers that end. SIGHUP replaces all workers, one
 * after the other. If the service has a terminal, SIGHUP ends it instead, as it ends a process
 * without workers.
 */
export const runPrimary = async (settings: Settings, log: Logger): Promise<void> => {
  await using resources = new AsyncDisposableStack();
  const fatal = Promise.withResolvers<Error>();
  const writer = await openEventLogFile(settings, openWriter);
  if (writer) resources.defer(() => writer.close());
  const sockets = await bindSockets(settings);
  for (const socket of sockets) resources.defer(async () => socket.close());
  const helper = shareHelper((sentence, end) => log.warn(end, sentence));
  resources.defer(helper.close);
  const metrics = await openMetrics(settings, resources, log);
  const takeOver = createJournalTakeOver({ log });
  const slots = createSlotGrants();
  const limits = createLimitDivision({ workers: settings.workers });
  const stopForgetting = repeatEvery(forgetEveryMs, backgroundTime, limits.forgetIdle);
  resources.defer(async () => stopForgetting());
  const servingPorts = new Set<WorkerPort>();

  const start = (place: number): SupervisedWorker => {
    const serving = Promise.withResolvers<void>();
    serving.promise.catch(() => {}); // its supervisor may have stopped waiting
    const journals = new Set<string>();
    const readMetrics = () => worker.port.call("metrics", undefined, { withinMs: metricsTimeoutMs });
    let lastMetrics: string | undefined;
    const helperJobs = helper.serve((kind, request) => worker.port.post(kind, request));
    const slotJobs = slots.serve();
    const shares = limits.serve({
      call: (kind, request) => worker.port.call(kind, request),
      post: (kind, request) => worker.port.post(kind, request),
    });
    const handlers: Handlers<CallsToPrimary> = {
      ...helperJobs.handlers,
      ...slotJobs.handlers,
      ...shares.handlers,
      ...serveWriter(writer),
      serving: () => {
        serving.resolve();
        metrics?.add(readMetrics);
        takeOver.add(worker);
        shares.begin();
        servingPorts.add(worker.port);
      },
      fatal: (message) => fatal.resolve(new Error(message)),
      askOthers: (kind) => askAll(servingPorts, worker.port, settings.workers, kind),
      lastMetrics: (text) => {
        lastMetrics = text;
      },
      untilOthersShow: async (position) => {
        const others = [...servingPorts].filter((port) => port !== worker.port);
        // A worker that ends meanwhile does not matter: the next one in its place reads the log at
        // its start.
        const within = { withinMs: visibleTimeoutMs };
        await Promise.allSettled(others.map((port) => port.call("untilVisible", position, within)));
      },
      journal: ({ journal, isOpen }) => void (isOpen ? journals.add(journal) : journals.delete(journal)),
    };
    const { version } = packageJson;
    const argument: WorkerArgument = { version, place, count: settings.workers, sockets };
    const worker = forkWorker<CallsToWorker, CallsToPrimary>({
      entry: new URL("../../worker.ts", import.meta.url),
      argument: JSON.stringify(argument),
      sockets,
      handlers,
    });
    void worker.exited.then(({ code, signal, error: cause }) => {
      const message = `worker ${place} ended with ${signal ?? code}`;
      if (cause) serving.reject(new Error(`worker ${place} could not be started`, { cause }));
      else serving.reject(code === 1 ? new Explained(message) : new Error(message));
      helperJobs.end();
      slotJobs.end();
      shares.end();
      servingPorts.delete(worker.port);
      metrics?.remove(readMetrics, lastMetrics);
      takeOver.ended(worker, journals);
    });
    return {
      serving: serving.promise,
      exited: worker.exited,
      ping: () => worker.port.call("ping", undefined),
      close: (reason) => worker.port.post("close", reason),
      kill: worker.kill,
    };
  };

  const drainMs = settings.drainSeconds * 1_000 + closeGraceMs;
  const closeTimeoutMs = (reason: CloseReason): number =>
    drainMs + (reason === "shutdown" ? settings.drainDelaySeconds * 1_000 : 0);
  const supervisor = superviseWorkers({ count: settings.workers, start, closeTimeoutMs, log });
  resources.defer(async () => {
    // Workers have copies of the sockets, and accept connections until they drain. Later
    // connections are refused.
    for (const socket of sockets) socket.close();
    const exits = await supervisor.close();
    if (exits.some(({ code }) => code !== 0)) process.exitCode = 1;
  });
  const running = resources.move();
  const hangUp = closeOnSignal(() => running.disposeAsync(), log, fatal.promise);
  process.on("SIGHUP", () => {
    if (process.stdin.isTTY || process.stdout.isTTY) return void hangUp("SIGHUP");
    void supervisor.restart();
  });
  try {
    if (!(await supervisor.start())) return;
  } catch (error) {
    await running.disposeAsync();
    if (!(error instanceof Explained)) throw error;
    process.exitCode = 1;
    return;
  }
  if (wyomingAddress(sockets)) log.info({ url: wyomingAddress(sockets) }, "wyoming");
  log.info(
    { url: `http://${addressOf(sockets[0] as ListeningSocket)}`, workers: settings.workers },
    "listening",
  );
  limitHeapGrowth("oneOfSeveral");
};

/** Serves /metrics, if it is configured. */
const openMetrics = async (
  { host, telemetry: { metricsPort: port } }: Settings,
  resources: AsyncDisposableStack,
  log: Logger,
) => {
  if (port === undefined) return undefined;
  const { createMetricsCollection } = await import("./collect-metrics.ts");
  const metrics = createMetricsCollection();
  const listener = await withSettingName("METRICS_PORT", metrics.listen({ host, port }));
  resources.defer(listener.close);
  log.info({ url: listener.url }, "metrics");
  return metrics;
};

/** Asks the workers that serve, except `own`, for their reports. */
const askAll = async (
  serving: ReadonlySet<WorkerPort>,
  own: WorkerPort,
  workers: number,
  kind: keyof Reports,
) => {
  const others = [...serving].filter((port) => port !== own);
  const within = { withinMs: reportTimeoutMs };
  const settled = await Promise.allSettled(others.map((port) => port.call("report", kind, within)));
  const reports = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  // While workers are replaced, more than their usual number serve.
  return { reports, missing: Math.max(0, workers - 1 - reports.length) };
};

/** Binds the socket of HTTP and then that of the Wyoming protocol, if it is served. */
const bindSockets = async ({ host, port, wyoming }: Settings): Promise<readonly ListeningSocket[]> => {
  const http = await bindListeningSocket(host, port).catch(nameListenSetting("PORT", "HOST"));
  if (!wyoming) return [http];
  const bound = bindListeningSocket(wyoming.host, wyoming.port);
  return [http, await bound.catch(nameListenSetting("WYOMING_PORT", "WYOMING_HOST"))];
};

const addressOf = ({ host, port }: ListeningSocket): string =>
  `${host.includes(":") ? `[${host}]` : host}:${port}`;

const wyomingAddress = ([, socket]: readonly ListeningSocket[]): string | undefined =>
  socket && `tcp://${addressOf(socket)}`;
