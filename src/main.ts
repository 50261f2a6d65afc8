import { createLogger, startTelemetry } from "./bootstrap/observability.ts";
import { composeService } from "./bootstrap/service.ts";
import { closeOnSignal, exitWithError } from "./bootstrap/shutdown.ts";
import { readSettings } from "./settings/read-settings.ts";

/** Serves until SIGTERM, SIGINT or a fatal error. */
const serve = async (): Promise<void> => {
  await using resources = new AsyncDisposableStack();
  const settings = readSettings();
  const log = createLogger(settings.logLevel);
  const { telemetry, metricsUrl, close } = await startTelemetry(settings, log);
  resources.defer(close);
  const fatal = Promise.withResolvers<Error>();
  const service = await composeService(settings, log, { telemetry, onFatal: fatal.resolve });
  resources.defer(service.close);
  const running = resources.move();
  closeOnSignal(() => running.disposeAsync(), log, fatal.promise);
  // Logged last: from here on the process handles signals.
  if (metricsUrl !== undefined) log.info({ url: metricsUrl }, "metrics");
  if (service.wyomingUrl !== undefined) log.info({ url: service.wyomingUrl }, "wyoming");
  log.info({ url: service.url }, "listening");
};

serve().catch(exitWithError);
