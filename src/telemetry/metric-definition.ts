import type { MetricSources } from "./telemetry.ts";

export interface Metric {
  readonly kind: "counter" | "gauge" | "histogram";
  readonly name: string;
  /** The unit in UCUM: `s`, `By`, or the name of the counted things in braces. */
  readonly unit: string;
  readonly description: string;
  readonly attributes?: readonly string[];
  /** The upper bounds of a histogram's buckets, in the unit. */
  readonly bounds?: readonly number[];
  /**
   * Reads the current value at each collection; undefined if there is none yet. A metric without it
   * gets its values from a decorator or gauges.ts.
   */
  readonly read?: (sources: MetricSources) => number | undefined | Promise<number | undefined>;
  /** The function that combines the values of several workers. Default: their sum. */
  readonly combined?: "max" | "min";
}

type Options = Pick<Metric, "attributes" | "bounds" | "read" | "combined">;

const define =
  <Kind extends Metric["kind"]>(kind: Kind) =>
  (name: string, unit: string, description: string, options: Options = {}) => ({
    name,
    kind,
    unit,
    description,
    ...options,
  });

export const counter = define("counter");
export const gauge = define("gauge");
export const histogram = define("histogram");

const unitSuffixes: Readonly<Record<string, string>> = { s: "_seconds", By: "_bytes", "1": "_ratio" };

/** The metric's name in Prometheus (OpenTelemetry, "Prometheus and OpenMetrics Compatibility"). */
export const prometheusName = ({ name, kind, unit }: Pick<Metric, "name" | "kind" | "unit">): string => {
  const suffix = unitSuffixes[unit] ?? "";
  return `${name.replaceAll(/[^a-zA-Z0-9]/g, "_")}${suffix}${kind === "counter" ? "_total" : ""}`;
};
