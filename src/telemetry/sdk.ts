import { DiagLogLevel, diag, SamplingDecision } from "@opentelemetry/api";
import { PrometheusExporter } from "@opentelemetry/exporter-prometheus";
import {
  defaultResource,
  resourceFromAttributes,
  serviceInstanceIdDetector,
  serviceNameEnvDetector,
} from "@opentelemetry/resources";
import { type IMetricReader, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { startNodeSdk } from "@opentelemetry/sdk-node";
import type { Logger } from "pino";
import type { TelemetrySettings } from "../bootstrap/telemetry-settings.ts";
import { instrument } from "./instrumentation.ts";
import { otlpMetricExporter } from "./metric-exporter.ts";
import { listenForMetrics } from "./metrics-listener.ts";
import { prometheusText } from "./prometheus-text.ts";
import { createRequestDurations } from "./request-times.ts";
import { createSampler } from "./sampler.ts";
import type { Telemetry } from "./telemetry.ts";

export interface TelemetryOptions {
  readonly settings: TelemetrySettings;
  readonly host: string;
  readonly version: string;
  readonly log: Logger;
  /** Whether what the address sends of a trace is to be gone on with. */
  readonly isTrusted: (address: string) => boolean;
}

export interface RunningTelemetry {
  readonly telemetry: Telemetry;
  /** Where /metrics is, if it is served. */
  readonly metricsUrl: string | undefined;
  /** Sends what is left, for a few seconds at most. */
  close(): Promise<void>;
}

/**
 * Starts OpenTelemetry's SDK with what the standard OTEL_* say. This module is loaded only when something is to be told: it
 * takes most of a second. @throws when the port for /metrics cannot be had
 */
export const openTelemetry = async (options: TelemetryOptions): Promise<RunningTelemetry> => {
  const { settings, host, version, log, isTrusted } = options;
  const durations = createRequestDurations();
  const metricProducers = [durations.producer];
  const readers: IMetricReader[] = [];
  const scraped = new PrometheusExporter({ preventServerStart: true, metricProducers });
  if (settings.metricsPort !== undefined) readers.push(scraped);
  if (settings.metrics) {
    const { protocol, everyMs, patienceMs } = settings.metrics;
    const exporter = await otlpMetricExporter(protocol);
    const intervals = { exportIntervalMillis: everyMs, exportTimeoutMillis: Math.min(everyMs, patienceMs) };
    readers.push(new PeriodicExportingMetricReader({ exporter, metricProducers, ...intervals }));
  }
  const sdk = startNodeSdk({
    logLevel: "error",
    baseResource: defaultResource().merge(
      resourceFromAttributes({ "service.name": "voxledger", "service.version": version }),
    ),
    // Not those of host and process: arguments, paths and the user's name are in them.
    resourceDetectors: [serviceInstanceIdDetector, serviceNameEnvDetector],
    metricReaders: readers,
    logRecordProcessors: [],
    sampler: everySpan,
    ...(!settings.traces && { spanProcessors: [] }),
  });
  logDiagnostics(log);
  const telemetry = instrument({ durations, sampler: createSampler(settings.traces, isTrusted) });
  const listener =
    settings.metricsPort === undefined
      ? undefined
      : await listenForMetrics({ host, port: settings.metricsPort }, async () => {
          const { resourceMetrics } = await scraped.collect();
          return prometheusText(resourceMetrics);
        });
  return {
    telemetry,
    metricsUrl: listener?.url,
    close: async () => {
      telemetry.end();
      await listener?.close();
      await withTimeout(shutdownTimeoutMs, sdk.shutdown()).catch((error) => diag.error("shutdown", error));
    },
  };
};

/** What is not to be seen never comes to the SDK (sampler.ts). */
const everySpan = {
  shouldSample: () => ({ decision: SamplingDecision.RECORD_AND_SAMPLED }),
  toString: () => "every span that is begun",
};

const shutdownTimeoutMs = 5_000;

const withTimeout = async (ms: number, ending: Promise<unknown>): Promise<void> => {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, ms);
  await Promise.race([ending, late.promise]).finally(() => clearTimeout(timer));
};

/** The SDK's own words may hold addresses, headers and stacks: the log is told the code in them, and not too often. */
const logDiagnostics = (log: Logger): void => {
  let quietUntil = 0;
  const tell = (...words: unknown[]): void => {
    if (Date.now() < quietUntil) return;
    quietUntil = Date.now() + 60_000;
    const [, code] = /"code":\s*"?([A-Z0-9_]{1,40})/.exec(words.map(String).join(" ")) ?? [];
    log.warn({ code }, "telemetry could not be told");
  };
  const silent = () => {};
  diag.setLogger(
    { error: tell, warn: tell, info: silent, debug: silent, verbose: silent },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
};
