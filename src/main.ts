import { createLog } from "./bootstrap/log.ts";
import { composeService } from "./bootstrap/service.ts";
import { closeOnSignal, exitWithError } from "./bootstrap/shutdown.ts";
import { startTelemetry } from "./bootstrap/telemetry.ts";
import { readSettings } from "./settings.ts";

/** Serves until it is told to end. */
const serve = async (): Promise<void> => {
  await using opened = new AsyncDisposableStack();
  const settings = readSettings();
  const log = createLog(settings.logLevel);
  const { telemetry, metricsUrl, close } = await startTelemetry(settings, log);
  opened.defer(close);
  const service = await composeService(settings, log, Date.now, telemetry);
  opened.defer(service.close);
  const running = opened.move();
  closeOnSignal(() => running.disposeAsync(), log);
  // Last: who has read it may send a signal.
  if (metricsUrl !== undefined) log.info({ url: metricsUrl }, "metrics");
  log.info({ url: service.url }, "listening");
};

serve().catch(exitWithError);
