import { expect } from "chai";
import { combineMetrics, countersOf } from "../../src/workers/combine-metrics.ts";

const one = `# HELP requests_total Requests.
# TYPE requests_total counter
requests_total{route="/a b"} 3
# HELP lag_seconds Lag.
# TYPE lag_seconds gauge
lag_seconds 0.5
# HELP live Live.
# TYPE live gauge
live 1
# HELP duration_seconds Duration.
# TYPE duration_seconds histogram
duration_seconds_count 2
duration_seconds_sum 0.25
duration_seconds_bucket{le="1"} 1
duration_seconds_bucket{le="+Inf"} 2
`;
const other = one
  .replace("} 3", "} 4")
  .replace('requests_total{route="/a b"} 4', 'requests_total{route="/a b"} 4\nrequests_total{route="/c"} 1')
  .replace("lag_seconds 0.5", "lag_seconds 0.25")
  .replace("live 1", "live 0");
const combinations = new Map([
  ["lag_seconds", "max"],
  ["live", "min"],
] as const);

describe("the metrics of several processes", () => {
  it("are sums, or the highest or lowest value, as their definition says", () => {
    expect(combineMetrics([one, other], combinations)).to.equal(
      one
        .replace("} 3", '} 7\nrequests_total{route="/c"} 1')
        .replace("live 1", "live 0")
        .replace("_count 2", "_count 4")
        .replace("_sum 0.25", "_sum 0.5")
        .replace('"1"} 1', '"1"} 2')
        .replace('Inf"} 2', 'Inf"} 4'),
    );
  });

  it("are unchanged if only one process has written any", () => {
    expect(combineMetrics([one, ""], combinations)).to.equal(one);
  });

  it("keep counters and histograms of a process that has ended, and no gauge", () => {
    expect(countersOf(one)).to.include("requests_total").and.include("_bucket").and.not.include("live");
  });
});
