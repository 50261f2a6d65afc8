import { PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import { DataPointType, type MetricData, type ResourceMetrics } from "@opentelemetry/sdk-metrics";
import { prometheusName } from "./metric-definition.ts";

const serializer = new PrometheusSerializer(undefined, false, undefined, false, true);

/**
 * Text exposition format, version 0.0.4. OpenTelemetry's serializer omits units from names, but a
 * collector adds them. Here a metric has the same name at /metrics as through a collector.
 */
export const prometheusText = ({ resource, scopeMetrics }: ResourceMetrics): string =>
  serializer.serialize({
    resource,
    scopeMetrics: scopeMetrics.map(({ scope, metrics }) => ({
      scope,
      metrics: metrics.map(withPrometheusName),
    })),
  });

const withPrometheusName = (metric: MetricData): MetricData => {
  const { descriptor } = metric;
  const kind = metric.dataPointType === DataPointType.SUM && metric.isMonotonic ? "counter" : "gauge";
  return {
    ...metric,
    descriptor: { ...descriptor, name: prometheusName({ ...descriptor, kind }), unit: "" },
  };
};
