import { type Metric, prometheusName } from "../../src/telemetry/metric-definition.ts";
import { metricDefinitions } from "../../src/telemetry/metrics.ts";
import { expectGolden } from "./golden.ts";

describe("golden files: metrics", () => {
  it("have the recorded names, types, units, attributes and bounds", () => {
    const metrics: readonly Metric[] = Object.values(metricDefinitions);
    const recorded = metrics.map(({ description: _text, attributes = [], bounds = [], ...metric }) => ({
      ...metric,
      prometheus: prometheusName(metric),
      attributes,
      bounds: bounds.join(" "),
    }));
    expectGolden(
      "metrics.json",
      recorded.sort((a, b) => (a.name < b.name ? -1 : 1)),
    );
  });
});
