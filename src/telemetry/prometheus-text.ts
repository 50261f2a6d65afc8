import { PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import { DataPointType, type MetricData, type ResourceMetrics } from "@opentelemetry/sdk-metrics";
import { prometheusName } from "./metric-names.ts";

const serializer = new PrometheusSerializer(undefined, false, undefined, false, true);

/**
 * The text exposition format, version 0.0.4. OpenTelemetry's serializer leaves the unit out of a name, where a collector
 * writes it: here a metric has one name on both ways to Prometheus.
 */
export const prometheusText = ({ resource, scopeMetrics }: ResourceMetrics): string =>
  serializer.serialize({
    resource,
    scopeMetrics: scopeMetrics.map(({ scope, metrics }) => ({ scope, metrics: metrics.map(named) })),
  });

const named = (metric: MetricData): MetricData => {
  const { descriptor } = metric;
  const kind = metric.dataPointType === DataPointType.SUM && metric.isMonotonic ? "counter" : "gauge";
  return {
    ...metric,
    descriptor: { ...descriptor, name: prometheusName({ ...descriptor, kind }), unit: "" },
  };
};
