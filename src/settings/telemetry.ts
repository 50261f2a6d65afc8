import { z } from "zod";

type OtlpProtocol = "grpc" | "http/json" | "http/protobuf";

export interface Sampling {
  /** The sampled share of the traces that start here, 0 to 1. */
  readonly ratio: number;
  /** True if the sampling decision of a continued trace is kept. */
  readonly parentBased: boolean;
}

/** Enabled telemetry signals. If none is set, the SDK is not loaded. */
export interface TelemetrySettings {
  readonly traces: Sampling | undefined;
  readonly metrics:
    | { readonly protocol: OtlpProtocol; readonly intervalMs: number; readonly timeoutMs: number }
    | undefined;
  /** The port of /metrics. */
  readonly metricsPort: number | undefined;
}

const protocol = z.enum(["grpc", "http/json", "http/protobuf"], "must be grpc, http/json or http/protobuf");

const samplers = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

const share = z
  .string()
  .regex(/^\d*\.?\d+$/, "must be a number from 0 to 1")
  .transform(Number)
  .refine((value) => value <= 1, "must be a number from 0 to 1");

const milliseconds = z
  .string()
  .regex(/^\d{1,9}$/, "must be a whole number")
  .transform(Number)
  .refine((ms) => ms > 0, "must be more than 0");

/** OpenTelemetry's standard variables that enable signals. The SDK reads all other ones itself. */
export const telemetryVariables = {
  OTEL_SDK_DISABLED: z.string().optional().describe("With `true`, everything is off, `/metrics` included."),
  /** It is refused, so it is not documented. */
  OTEL_CONFIG_FILE: z.undefined("is not supported: use the other OTEL_ variables").optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .string()
    .optional()
    .describe("The collector. Traces and metrics are exported if it is set."),
  OTEL_EXPORTER_OTLP_PROTOCOL: protocol
    .default("http/protobuf")
    .describe("`grpc`, `http/json` or `http/protobuf`."),
  OTEL_TRACES_EXPORTER: z
    .string()
    .regex(/^(none|(otlp|console|zipkin)(,(otlp|console|zipkin))*)$/, "must be otlp, console, zipkin or none")
    .optional()
    .describe("`otlp`, `console` and `zipkin`, comma-separated, or `none`."),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z
    .string()
    .optional()
    .describe("The collector of traces, if it is another one."),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocol
    .optional()
    .describe("The protocol for traces, if it is another one."),
  OTEL_TRACES_SAMPLER: z
    .enum(samplers, `must be one of ${samplers.join(", ")}`)
    .default("parentbased_always_on")
    .describe("Which traces are exported."),
  OTEL_TRACES_SAMPLER_ARG: share
    .default(1)
    .describe("The share of traces for the samplers `traceidratio` and `parentbased_traceidratio`, 0 to 1."),
  OTEL_METRICS_EXPORTER: z
    .enum(["otlp", "none"], "must be otlp or none")
    .optional()
    .describe("`otlp` or `none`."),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: z
    .string()
    .optional()
    .describe("The collector of metrics, if it is another one."),
  OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: protocol
    .optional()
    .describe("The protocol for metrics, if it is another one."),
  OTEL_METRIC_EXPORT_INTERVAL: milliseconds
    .default(60_000)
    .describe("Milliseconds between two exports of metrics."),
  OTEL_METRIC_EXPORT_TIMEOUT: milliseconds
    .default(30_000)
    .describe("Milliseconds that an export of metrics may take."),
};

const variables = z.object(telemetryVariables);

/** Over HTTP an endpoint must be a URL. Over gRPC the SDK accepts `host:port` too. */
export const checkEndpoints = (given: z.output<typeof variables>, context: z.RefinementCtx): void => {
  const common = given.OTEL_EXPORTER_OTLP_PROTOCOL;
  const endpoints = [
    ["OTEL_EXPORTER_OTLP_ENDPOINT", common],
    ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", given.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? common],
    ["OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", given.OTEL_EXPORTER_OTLP_METRICS_PROTOCOL ?? common],
  ] as const;
  for (const [name, protocol] of endpoints) {
    const address = given[name];
    if (address === undefined || protocol === "grpc") continue;
    if (!/^https?:\/\//.test(address) || !URL.canParse(address)) {
      context.addIssue({ code: "custom", path: [name], message: "must be an http or https URL" });
    }
  }
};

/**
 * The setting of a signal's exporter decides whether the signal is exported. If it is not set, the
 * signal is exported if an endpoint is set.
 */
export const readTelemetrySettings = (
  given: z.output<typeof variables> & { readonly METRICS_PORT?: number | undefined },
): TelemetrySettings => {
  if (given.OTEL_SDK_DISABLED?.toLowerCase() === "true") return disabled;
  const isExported = (exporter: string | undefined, endpoint: string | undefined): boolean =>
    exporter === undefined
      ? (endpoint ?? given.OTEL_EXPORTER_OTLP_ENDPOINT) !== undefined
      : exporter !== "none";
  const metrics = {
    protocol: given.OTEL_EXPORTER_OTLP_METRICS_PROTOCOL ?? given.OTEL_EXPORTER_OTLP_PROTOCOL,
    intervalMs: given.OTEL_METRIC_EXPORT_INTERVAL,
    timeoutMs: given.OTEL_METRIC_EXPORT_TIMEOUT,
  };
  return {
    traces: isExported(given.OTEL_TRACES_EXPORTER, given.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT)
      ? samplingOf(given.OTEL_TRACES_SAMPLER, given.OTEL_TRACES_SAMPLER_ARG)
      : undefined,
    metrics: isExported(given.OTEL_METRICS_EXPORTER, given.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT)
      ? metrics
      : undefined,
    metricsPort: given.METRICS_PORT,
  };
};

const samplingOf = (sampler: (typeof samplers)[number], share: number): Sampling => ({
  ratio: sampler.endsWith("always_off") ? 0 : sampler.endsWith("traceidratio") ? share : 1,
  parentBased: sampler.startsWith("parentbased_"),
});

const disabled: TelemetrySettings = { traces: undefined, metrics: undefined, metricsPort: undefined };
