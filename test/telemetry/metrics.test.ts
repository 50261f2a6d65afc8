import type { IncomingMessage } from "node:http";
import { PrometheusExporter } from "@opentelemetry/exporter-prometheus";
import { MeterProvider } from "@opentelemetry/sdk-metrics";
import { expect } from "chai";
import { byokEngines } from "../../src/domain/synthesis/byok-providers.ts";
import { createRefusalCounter } from "../../src/telemetry/decorators/access.ts";
import { countProviderEvents, countWebhookAttempts } from "../../src/telemetry/decorators/engines.ts";
import { type Counter, createCounter, createInstruments } from "../../src/telemetry/instruments.ts";
import { prometheusName } from "../../src/telemetry/metric-definition.ts";
import { metricDefinitions } from "../../src/telemetry/metrics.ts";
import { prometheusText } from "../../src/telemetry/prometheus.ts";
import { createRequestObserver } from "../../src/telemetry/requests.ts";
import { parseExposition } from "../support/telemetry/exposition.ts";

describe("a counter", () => {
  it("sums by attributes and omits empty ones", () => {
    const tally = createCounter(["engine", "state"]);
    tally.add(1, "g1", "open");
    tally.add(2, "g1", "open");
    tally.add(1, "g2");
    expect([...tally.entries()]).to.deep.equal([
      [3, { engine: "g1", state: "open" }],
      [1, { engine: "g2" }],
    ]);
  });
});

describe("the counter of circuit changes", () => {
  it("starts at zero for every engine, so that the first change is an increase", () => {
    const tallies = new Map<string, Counter>();
    const counter = (key: string): Counter => {
      const made = createCounter(metricDefinitions[key as "circuitChanges"].attributes ?? []);
      tallies.set(key, made);
      return made;
    };
    const report = countProviderEvents({ counter, observe: () => {}, histogram: () => () => {} });
    const opened = () => [...(tallies.get("circuitChanges")?.entries() ?? [])];
    expect(opened()).to.deep.equal(byokEngines.map((engine) => [0, { engine, state: "open" }]));
    report("oai", { what: "circuit", state: "open" });
    expect(opened().at(-1)).to.deep.equal([1, { engine: "oai", state: "open" }]);
  });
});

describe("the counter of refused callers", () => {
  it("starts at zero for each documented reason, so that the first one is an increase", () => {
    const refusals = createCounter(metricDefinitions.refusals.attributes ?? []);
    createRefusalCounter({ counter: () => refusals });
    const [, documented = ""] = /by reason: (.*)\.$/.exec(metricDefinitions.refusals.description) ?? [];
    const reasons = documented.replace(/ \(.*?\)/g, "").split(", ");
    expect([...refusals.entries()]).to.deep.equal(reasons.map((reason) => [0, { reason }]));
  });
});

describe("the counter of attempts to deliver to webhooks", () => {
  it("starts at zero for abandoned messages, so that the first one is an increase", () => {
    const attempts = createCounter(metricDefinitions.webhookAttempts.attributes ?? []);
    countWebhookAttempts({ counter: () => attempts, observe: () => {}, histogram: () => () => {} });
    expect([...attempts.entries()]).to.deep.equal([[0, { outcome: "abandoned" }]]);
  });
});

describe("request durations", () => {
  const name = prometheusName(metricDefinitions.requests);

  it("are recorded by method, route and status, with one value for unknown methods", async () => {
    const exporter = new PrometheusExporter({ preventServerStart: true });
    const meter = new MeterProvider({ readers: [exporter] }).getMeter("test");
    const observer = createRequestObserver(createInstruments(meter), { parentContext: () => undefined });
    const serve = (method: string, route: string | undefined, status: number) =>
      observer.begin({ method } as IncomingMessage, "id").end(route, status);
    serve("GET", "/a", 200);
    serve("GET", "/b", 200);
    serve("GET", "/a", 404);
    serve("BREW", undefined, 405);
    serve("MELT", undefined, 405);
    const { resourceMetrics } = await exporter.collect();
    const counts = parseExposition(prometheusText(resourceMetrics)).filter(
      (sample) => sample.name === `${name}_count`,
    );
    expect(counts.map(({ value }) => value)).to.deep.equal([1, 1, 1, 2]);
    expect(counts.at(-1)?.labels).to.deep.equal({
      http_request_method: "_OTHER",
      http_response_status_code: "405",
    });
  });
});

describe("metric names", () => {
  it("have units in Prometheus, as a collector writes them", () => {
    const names = [
      metricDefinitions.requests,
      metricDefinitions.responses,
      metricDefinitions.cacheBytes,
      metricDefinitions.cpu,
    ];
    expect(names.map(prometheusName)).to.deep.equal([
      "http_server_request_duration_seconds",
      "voxledger_synthesis_answers_total",
      "voxledger_memory_cache_size_bytes",
      "process_cpu_time_seconds_total",
    ]);
  });

  it("are unique, also among the series of histograms", () => {
    const all = Object.values(metricDefinitions).map(prometheusName);
    expect(new Set(all).size).to.equal(all.length);
    const series = all.flatMap((name) => [`${name}_count`, `${name}_sum`, `${name}_bucket`]);
    expect(all.filter((name) => series.includes(name))).to.deep.equal([]);
  });
});
