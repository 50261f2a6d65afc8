import { limitHeapGrowth } from "./bootstrap/heap-growth.ts";
import { createLogger, startTelemetry } from "./bootstrap/observability.ts";
import type { Service } from "./bootstrap/service.ts";
import { exitWithError } from "./bootstrap/shutdown.ts";
import { startEventStoreThreads } from "./bootstrap/start-ahead.ts";
import { joinWorkers } from "./bootstrap/workers/worker.ts";
import { readSettings } from "./settings/read-settings.ts";

/** Serves as one of several workers, until the primary tells it to close, or has ended. */
const serve = async (): Promise<void> => {
  let service: Service | undefined;
  let collect = async (): Promise<string> => "";
  let endTelemetry = async (): Promise<void> => {};
  const { place, shared, writer, primary } = joinWorkers({
    close: async () => {
      try {
        await service?.close();
        await primary.call("lastMetrics", await collect());
        await endTelemetry();
      } catch (error) {
        exitWithError(error);
      }
      process.exit();
    },
    metrics: () => collect(),
    service: () => service,
  });
  const settings = readSettings();
  const log = createLogger(settings.logLevel, undefined, { worker: place });
  const threads = await startEventStoreThreads(settings, writer);
  const { composeService } = await import("./bootstrap/service.ts");
  const { telemetry, ...running } = await startTelemetry(settings, log, { listens: false });
  [collect, endTelemetry] = [running.collect, running.close];
  const onFatal = (error: Error): void => primary.post("fatal", error.message);
  service = await composeService(settings, log, { telemetry, shared, threads, onFatal });
  primary.post("serving", undefined);
  await service.loaded;
  limitHeapGrowth("oneOfSeveral");
};

serve().catch((error) => {
  exitWithError(error);
  process.exit();
});
