import { expect } from "chai";
import { BadSetting, readSettings } from "../../src/settings/read-settings.ts";

describe("telemetry settings", () => {
  const wanted = (env: Record<string, string>) => readSettings(env).telemetry;
  const endpoint = "http://collector:4318";
  const everything = { protocol: "http/protobuf", intervalMs: 60_000, timeoutMs: 30_000 };

  it("enable nothing by default", () => {
    const nothing = { traces: undefined, metrics: undefined, metricsPort: undefined };
    expect(wanted({})).to.deep.equal(nothing);
    expect(wanted({ OTEL_SERVICE_NAME: "tts" })).to.deep.equal(nothing);
    const all = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, METRICS_PORT: "9464" };
    expect(wanted({ ...all, OTEL_SDK_DISABLED: "TRUE" })).to.deep.equal(nothing);
  });

  it("enable each signal that has an endpoint, unless it is disabled", () => {
    const both = wanted({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint });
    expect(both.traces).to.deep.equal({ ratio: 1, parentBased: true });
    expect(both.metrics).to.deep.equal(everything);
    const traces = wanted({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint });
    expect(traces.traces).not.to.equal(undefined);
    expect(traces.metrics).to.equal(undefined);
    const metrics = wanted({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_EXPORTER: "none" });
    expect(metrics.traces).to.equal(undefined);
    expect(metrics.metrics).to.deep.equal(everything);
  });

  it("accept a host and port as endpoint over gRPC", () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4317", OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" };
    expect(wanted(env).metrics).to.include({ protocol: "grpc" });
  });

  for (const [sampler, sampling] of [
    ["always_on", { ratio: 1, parentBased: false }],
    ["always_off", { ratio: 0, parentBased: false }],
    ["traceidratio", { ratio: 0.25, parentBased: false }],
    ["parentbased_always_off", { ratio: 0, parentBased: true }],
    ["parentbased_traceidratio", { ratio: 0.25, parentBased: true }],
  ] as const) {
    it(`is sampled as ${sampler} says`, () => {
      const env = { OTEL_TRACES_EXPORTER: "otlp", OTEL_TRACES_SAMPLER_ARG: "0.25" };
      expect(wanted({ ...env, OTEL_TRACES_SAMPLER: sampler }).traces).to.deep.equal(sampling);
    });
  }

  for (const [name, value] of [
    ["METRICS_PORT", "70000"],
    ["OTEL_TRACES_SAMPLER", "jaeger_remote"],
    ["OTEL_TRACES_SAMPLER_ARG", "1.5"],
    ["OTEL_EXPORTER_OTLP_PROTOCOL", "thrift"],
    ["OTEL_METRICS_EXPORTER", "prometheus"],
    ["OTEL_CONFIG_FILE", "otel.yaml"],
    ["OTEL_TRACES_EXPORTER", "jaeger"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"],
    ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "collector"],
    ["OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "ftp://collector"],
  ] as const) {
    it(`is not guessed from ${name}=${value}`, () => {
      expect(() => readSettings({ [name]: value })).to.throw(BadSetting, new RegExp(`^${name}: [^\\n]+$`));
    });
  }
});
