import { DiagLogLevel, diag, SamplingDecision } from "@opentelemetry/api";
import { PrometheusExporter } from "@opentelemetry/exporter-prometheus";
import {
  defaultResource,
  resourceFromAttributes,
  serviceInstanceIdDetector,
  serviceNameEnvDetector,
} from "@opentelemetry/resources";
import {
  type IMetricReader,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from "@opentelemetry/sdk-metrics";
import { startNodeSdk } from "@opentelemetry/sdk-node";
import type { Logger } from "pino";
import { withDeadline } from "../async/deadline.ts";
import type { TelemetrySettings } from "../settings/telemetry.ts";
import {
  createRefusalCounter,
  instrumentAuthenticator,
  instrumentLimiter,
  instrumentUpgrade,
} from "./decorators/access.ts";
import {
  instrumentAudioStore,
  instrumentEncoder,
  instrumentPipeline,
  instrumentStreaming,
} from "./decorators/audio.ts";
import {
  countProviderEvents,
  countWebhookAttempts,
  instrumentEngine,
  instrumentExchange,
} from "./decorators/engines.ts";
import { instrumentEventStore, traceCommands } from "./decorators/event-log.ts";
import { createServingCounter, instrumentLedger } from "./decorators/ledger.ts";
import { observeProcess, observeSources, recordWaits } from "./gauges.ts";
import { createInstruments } from "./instruments.ts";
import { listenForMetrics } from "./metrics-server.ts";
import { prometheusText } from "./prometheus.ts";
import { createRequestObserver } from "./requests.ts";
import { createSampler, type Sampler } from "./sampler.ts";
import type { Telemetry } from "./telemetry.ts";

interface TelemetryOptions {
  readonly settings: TelemetrySettings;
  readonly host: string;
  readonly version: string;
  readonly log: Logger;
  /** True if trace context from the address is continued. */
  readonly isTrusted: (address: string) => boolean;
  /** False if another process serves /metrics. */
  readonly listens: boolean;
}

export type RunningTelemetry = Awaited<ReturnType<typeof openTelemetry>>;

/**
 * Starts the OpenTelemetry SDK, configured by the standard OTEL_* variables. Import this module
 * only when telemetry is enabled: loading it takes most of a second.
 * @throws when the port of /metrics is in use or not allowed
 */
export const openTelemetry = async ({
  settings,
  host,
  version,
  log,
  isTrusted,
  listens,
}: TelemetryOptions) => {
  const readers: IMetricReader[] = [];
  const prometheus = new PrometheusExporter({ preventServerStart: true });
  if (settings.metricsPort !== undefined) readers.push(prometheus);
  if (settings.metrics) {
    const { protocol, intervalMs, timeoutMs } = settings.metrics;
    // The exporter reads its endpoint, headers and compression from OTEL_EXPORTER_OTLP_*.
    const { OTLPMetricExporter } = await otlpModules[protocol]();
    const exporter: PushMetricExporter = new OTLPMetricExporter();
    const intervals = {
      exportIntervalMillis: intervalMs,
      exportTimeoutMillis: Math.min(intervalMs, timeoutMs),
    };
    readers.push(new PeriodicExportingMetricReader({ exporter, ...intervals }));
  }
  const sdk = startNodeSdk({
    logLevel: "error",
    baseResource: defaultResource().merge(
      resourceFromAttributes({ "service.name": "voxledger", "service.version": version }),
    ),
    // The host and process detectors would add arguments, paths and the user name.
    resourceDetectors: [serviceInstanceIdDetector, serviceNameEnvDetector],
    metricReaders: readers,
    logRecordProcessors: [],
    sampler: everySpan,
    ...(!settings.traces && { spanProcessors: [] }),
  });
  logDiagnostics(log);
  const { telemetry, stop } = instrument(createSampler(settings.traces, isTrusted));
  const collect = async (): Promise<string> => {
    const { resourceMetrics } = await prometheus.collect();
    return prometheusText(resourceMetrics);
  };
  const listener =
    settings.metricsPort === undefined || !listens
      ? undefined
      : await listenForMetrics({ host, port: settings.metricsPort }, collect);
  return {
    telemetry,
    /** The metrics in Prometheus' text format. */
    collect,
    /** The address of /metrics, if it is served. */
    metricsUrl: listener?.url,
    /** Flushes, for at most five seconds. */
    close: async (): Promise<void> => {
      stop();
      await listener?.close();
      await shutdown(sdk);
    },
  };
};

/** Implements the telemetry port on the global trace and metric providers. */
const instrument = (sampler: Sampler) => {
  const instruments = createInstruments();
  const refusals = createRefusalCounter(instruments);
  const errors = instruments.counter("errors");
  const stop = observeProcess(instruments);
  let isListening = false;
  instruments.observe("starting", (observeValue) => observeValue(Number(!isListening)));
  const telemetry: Telemetry = {
    eventStore: instrumentEventStore(instruments),
    commands: traceCommands,
    ledger: instrumentLedger(instruments, refusals),
    servings: createServingCounter(instruments),
    audioStore: instrumentAudioStore(instruments),
    engine: instrumentEngine(instruments),
    encoder: instrumentEncoder(instruments),
    exchange: instrumentExchange,
    pipeline: instrumentPipeline,
    streaming: instrumentStreaming(sampler.shouldSample),
    authenticator: instrumentAuthenticator(refusals),
    limiter: instrumentLimiter(refusals),
    upgrade: instrumentUpgrade(instruments),
    wyoming: (connections) =>
      instruments.observe("wyomingConnections", (observeValue) => observeValue(connections())),
    refused: (code) => errors.add(1, code),
    webhook: countWebhookAttempts(instruments),
    provider: countProviderEvents(instruments),
    started: recordWaits(instruments),
    requests: createRequestObserver(instruments, sampler),
    listening: () => {
      isListening = true;
    },
    observe: (sources) => observeSources(instruments, sources),
  };
  return { telemetry, stop };
};

const otlpModules = {
  grpc: () => import("@opentelemetry/exporter-metrics-otlp-grpc"),
  "http/json": () => import("@opentelemetry/exporter-metrics-otlp-http"),
  "http/protobuf": () => import("@opentelemetry/exporter-metrics-otlp-proto"),
} as const;

/** Records every span, because only sampled spans are started (sampler.ts). */
const everySpan = {
  shouldSample: () => ({ decision: SamplingDecision.RECORD_AND_SAMPLED }),
  toString: () => "every started span",
};

const shutdownTimeoutMs = 5_000;

/** Waits for the last exports, within a deadline. */
const shutdown = (sdk: { shutdown(): Promise<void> }): Promise<void> => {
  const onTimeout = () => new Error("the shutdown timed out");
  return withDeadline({ ms: shutdownTimeoutMs, onTimeout }, () => sdk.shutdown()).catch((error) =>
    diag.error("shutdown", error),
  );
};

/**
 * Logs the error code of SDK diagnostics, at most once a minute. Their text may contain addresses,
 * headers and stacks.
 */
const logDiagnostics = (log: Logger): void => {
  let quietUntil = 0;
  const report = (...parts: unknown[]): void => {
    if (Date.now() < quietUntil) return;
    quietUntil = Date.now() + 60_000;
    const [, code] = /"code":\s*"?([A-Z0-9_]{1,40})/.exec(parts.map(String).join(" ")) ?? [];
    log.warn({ code }, "telemetry could not be exported");
  };
  const quiet = () => {};
  diag.setLogger(
    { error: report, warn: report, info: quiet, debug: quiet, verbose: quiet },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
};
