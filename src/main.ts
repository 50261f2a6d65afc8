import { limitHeapGrowth } from "./bootstrap/heap-growth.ts";
import { createLogger, startTelemetry } from "./bootstrap/observability.ts";
import { closeOnSignal, exitWithError } from "./bootstrap/shutdown.ts";
import { readSettings, type Settings } from "./settings/read-settings.ts";

/** Serves until SIGTERM, SIGINT or a fatal error. */
const serve = async (settings: Settings): Promise<void> => {
  await using resources = new AsyncDisposableStack();
  const log = createLogger(settings.logLevel);
  const { startAhead } = await import("./bootstrap/start-ahead.ts");
  const { superviseHelper, threads, close: closeAhead } = await startAhead(settings, log);
  resources.defer(closeAhead);
  const { composeService } = await import("./bootstrap/service.ts");
  const { telemetry, metricsUrl, close } = await startTelemetry(settings, log);
  resources.defer(close);
  const fatal = Promise.withResolvers<Error>();
  const service = await composeService(settings, log, {
    ...{ telemetry, superviseHelper, threads },
    onFatal: fatal.resolve,
  });
  resources.defer(service.close);
  const running = resources.move();
  closeOnSignal(() => running.disposeAsync(), log, fatal.promise);
  // This is logged last, because from here on the process handles signals.
  if (metricsUrl !== undefined) log.info({ url: metricsUrl }, "metrics");
  if (service.wyomingUrl !== undefined) log.info({ url: service.wyomingUrl }, "wyoming");
  log.info({ url: service.url }, "listening");
  await service.loaded;
  limitHeapGrowth("alone");
};

/** Serves in several processes. This one stays small: it loads nothing that serves requests. */
const serveInWorkers = async (settings: Settings): Promise<void> => {
  const { runPrimary } = await import("./bootstrap/workers/primary.ts");
  await runPrimary(settings, createLogger(settings.logLevel));
};

const run = async (): Promise<void> => {
  const settings = readSettings();
  await (settings.workers > 1 ? serveInWorkers : serve)(settings);
};

run().catch(exitWithError);
