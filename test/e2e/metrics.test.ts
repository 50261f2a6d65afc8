import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { prometheusName } from "../../src/telemetry/metric.ts";
import { metricDefinitions } from "../../src/telemetry/metrics.ts";
import {
  admin,
  bytesOf,
  type Credentials,
  registerWebsite,
  synthesize,
  synthesizeByPost,
} from "../support/client.ts";
import { type RunningService, startService, temporaryFolder } from "../support/service.ts";
import { parseExposition, type Sample, sumOf } from "../support/telemetry/exposition.ts";
import { goodCredentials, serveProviders, type WireProviders } from "../support/wire/providers.ts";

const text = "A confidential sentence.";
const voice = "UK English Female";

describe("The service's metrics", () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let providers: WireProviders;
  let service: RunningService;
  let website: Credentials;

  const start = async (env: Record<string, string> = {}): Promise<void> => {
    service = await startService(folder.path, env);
    website = await registerWebsite(service.url);
  };
  const metricsUrl = (): string | undefined => {
    const line = service.log.find((one) => one.includes('"msg":"metrics"'));
    return line && JSON.parse(line).url;
  };
  const scrape = async (): Promise<Sample[]> => {
    const response = await fetch(metricsUrl() ?? "");
    expect(response.headers.get("content-type")).to.equal("text/plain; version=0.0.4; charset=utf-8");
    return parseExposition(await response.text());
  };

  before(async () => {
    providers = await serveProviders();
  });
  after(() => providers.close());
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(async () => {
    await service.stop();
    await folder.remove();
  });

  describe("at /metrics", () => {
    const answered = (samples: readonly Sample[], labels: Record<string, string>): number =>
      sumOf(samples, prometheusName(metricDefinitions.answers), labels);
    const requests = (samples: readonly Sample[], status: string): number =>
      sumOf(samples, `${prometheusName(metricDefinitions.requests)}_count`, {
        http_route: "/v2/text/synthesize",
        http_response_status_code: status,
      });

    it("count responses by cache status, and their characters", async () => {
      await start({ METRICS_PORT: "0" });
      for (let attempt = 0; attempt < 3; attempt++)
        await bytesOf(await synthesize(service.url, website, { voice, text }));
      const samples = await scrape();
      expect(answered(samples, { provenance: "miss", engine: "g1", delivery: "whole" })).to.equal(1);
      expect(answered(samples, { provenance: "memory" })).to.equal(2);
      expect(sumOf(samples, prometheusName(metricDefinitions.characters), { engine: "g1" })).to.equal(
        3 * text.length,
      );
      expect(requests(samples, "200")).to.equal(3);
      expect(
        sumOf(samples, `${prometheusName(metricDefinitions.engineDuration)}_count`, { outcome: "made" }),
      ).to.equal(1);
      expect(sumOf(samples, prometheusName(metricDefinitions.viewsLive))).to.equal(1);
      expect(sumOf(samples, prometheusName(metricDefinitions.dependency))).to.equal(9);
    });

    it("count refusals by reason", async () => {
      await start({ METRICS_PORT: "0", BURST_LIMIT: "1", BURST_WINDOW_MS: "60000" });
      const tight = await registerWebsite(service.url, { monthlyCharacters: 10 });
      expect((await synthesize(service.url, tight, { voice, text })).status).to.equal(403);
      const wrong = { ...website, apiSecret: "x" };
      expect((await synthesize(service.url, wrong, { voice, text })).status).to.equal(401);
      const both = await Promise.all([1, 2].map(() => synthesize(service.url, website, { voice, text })));
      expect(both.map(({ status }) => status).sort()).to.deep.equal([200, 429]);
      const samples = await scrape();
      for (const reason of ["quota", "unauthorized", "burst"])
        expect(sumOf(samples, prometheusName(metricDefinitions.refusals), { reason }), reason).to.equal(1);
    });

    it("count provider errors", async () => {
      await start({ METRICS_PORT: "0", ...providers.env });
      await admin(service.url, "PUT", `/websites/${website.id}/credentials/oai`, goodCredentials.oai);
      providers.oai.faults.next({ kind: "refusal", status: 400, message: "It will not." });
      expect((await synthesizeByPost(service.url, website, { voice: "alloy", text })).status).to.equal(502);
      const samples = await scrape();
      const labels = { engine: "oai", error_type: "400" };
      expect(sumOf(samples, prometheusName(metricDefinitions.upstreamErrors), labels)).to.equal(1);
      expect(
        sumOf(samples, `${prometheusName(metricDefinitions.engineDuration)}_count`, { outcome: "failed" }),
      ).to.equal(1);
    });

    it("have a separate port that serves nothing else", async () => {
      await start({ METRICS_PORT: "0" });
      const { origin } = new URL(metricsUrl() ?? "");
      expect((await fetch(`${service.url}/metrics`)).status).to.equal(404);
      expect((await fetch(`${origin}/health`)).status).to.equal(404);
      expect((await fetch(`${origin}/metrics`, { method: "POST" })).status).to.equal(405);
    });

    it("have exactly the documented names, types and help texts", async () => {
      await start({ METRICS_PORT: "0" });
      await bytesOf(await synthesize(service.url, website, { voice, text }));
      const written = new Set(Object.values(metricDefinitions).map(prometheusName));
      const families = (await scrape()).map(({ name }) =>
        written.has(name) ? name : name.replace(/_(bucket|sum|count)$/, ""),
      );
      expect(families.filter((name) => !written.has(name) && name !== "target_info")).to.deep.equal([]);
    });
  });

  describe("OpenTelemetry", () => {
    const hook = `--import ${pathToFileURL("test/support/telemetry/report-loaded-modules.ts")}`;
    const loaded = (): string[] => service.log.filter((line) => line.startsWith("loaded "));

    it("is not loaded by default", async () => {
      await start({ NODE_OPTIONS: hook });
      expect(loaded()).to.deep.equal([]);
      expect(metricsUrl()).to.equal(undefined);
    });

    const configured = { METRICS_PORT: "0", OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" };
    it("is not loaded when it is disabled, whatever else is set", async () => {
      await start({ ...configured, OTEL_SDK_DISABLED: "true", NODE_OPTIONS: hook });
      expect(loaded()).to.deep.equal([]);
      expect(metricsUrl()).to.equal(undefined);
    });

    it("is loaded when it is enabled", async () => {
      await start({ METRICS_PORT: "0", NODE_OPTIONS: hook });
      expect(loaded()).not.to.deep.equal([]);
    });
  });
});
