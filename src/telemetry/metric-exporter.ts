import type { PushMetricExporter } from "@opentelemetry/sdk-metrics";
import type { OtlpProtocol } from "../bootstrap/telemetry-settings.ts";

/** Where to, with which headers and how compressed is for it to read from the standard OTEL_EXPORTER_OTLP_…. */
export const otlpMetricExporter = async (protocol: OtlpProtocol): Promise<PushMetricExporter> => {
  const { OTLPMetricExporter } = await modules[protocol]();
  return new OTLPMetricExporter();
};

const modules = {
  grpc: () => import("@opentelemetry/exporter-metrics-otlp-grpc"),
  "http/json": () => import("@opentelemetry/exporter-metrics-otlp-http"),
  "http/protobuf": () => import("@opentelemetry/exporter-metrics-otlp-proto"),
} as const;
