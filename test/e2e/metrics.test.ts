import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { prometheusName } from "../../src/telemetry/metric-definition.ts";
import { metricDefinitions } from "../../src/telemetry/metrics.ts";
import { admin, bytesOf, registerWebsite, synthesize, synthesizeByPost } from "../support/client.ts";
import { duringTest } from "../support/during.ts";
import { type RunningService, startService, temporaryFolder } from "../support/service.ts";
import { parseExposition, type Sample, sumOf } from "../support/telemetry/exposition.ts";
import { goodCredentials, serveProviders, type WireProviders } from "../support/wire/providers.ts";

const voice = "UK English Female";

/** Reports the modules of OpenTelemetry that the service loads. */
const hook = `--import ${pathToFileURL("test/support/telemetry/report-loaded-modules.ts")}`;

const metricsUrl = ({ log }: RunningService): string | undefined => {
  const line = log.find((one) => one.includes('"msg":"metrics"'));
  return line && JSON.parse(line).url;
};
const loadedModules = ({ log }: RunningService): string[] => log.filter((line) => line.startsWith("loaded "));

describe("The service's metrics", () => {
  const website = duringTest(() => registerWebsite(service.url));
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let providers: WireProviders;
  let service: RunningService;
  let texts = 0;
  const freshText = (): string => `A confidential sentence, number ${++texts}.`;

  before(async () => {
    [folder, providers] = await Promise.all([temporaryFolder(), serveProviders()]);
    const env = { METRICS_PORT: "0", BURST_WINDOW_MS: "60000", NODE_OPTIONS: hook, ...providers.env };
    service = await startService(folder.path, env);
  });
  after(async () => {
    await service.stop();
    await Promise.all([folder.remove(), providers.close()]);
  });

  describe("at /metrics", () => {
    const scrape = async (): Promise<Sample[]> => {
      const response = await fetch(metricsUrl(service) ?? "");
      expect(response.headers.get("content-type")).to.equal("text/plain; version=0.0.4; charset=utf-8");
      return parseExposition(await response.text());
    };
    /**
     * Makes the calls, and resolves with a function that returns by how much the sum of these
     * samples has grown.
     */
    const growth = async (calls: () => Promise<void>) => {
      const before = await scrape();
      await calls();
      const after = await scrape();
      return (name: string, labels: Record<string, string>): number =>
        sumOf(after, name, labels) - sumOf(before, name, labels);
    };
    const durations = `${prometheusName(metricDefinitions.engineDuration)}_count`;

    it("count responses by cache status, and their characters", async () => {
      const text = freshText();
      const added = await growth(async () => {
        for (let attempt = 0; attempt < 3; attempt++)
          await bytesOf(await synthesize(service.url, website, { voice, text }));
      });
      const responses = prometheusName(metricDefinitions.responses);
      expect(added(responses, { provenance: "miss", engine: "g1", delivery: "whole" })).to.equal(1);
      expect(added(responses, { provenance: "memory" })).to.equal(2);
      expect(added(prometheusName(metricDefinitions.characters), { engine: "g1" })).to.equal(3 * text.length);
      const served = { http_route: "/v2/text/synthesize", http_response_status_code: "200" };
      expect(added(`${prometheusName(metricDefinitions.requests)}_count`, served)).to.equal(3);
      expect(added(durations, { outcome: "made" })).to.equal(1);
      const samples = await scrape();
      expect(sumOf(samples, prometheusName(metricDefinitions.viewsLive))).to.equal(1);
      expect(sumOf(samples, prometheusName(metricDefinitions.dependency))).to.equal(10);
    });

    it("show the free disk, the size of the log and journals that were not taken over", async () => {
      const samples = await scrape();
      for (const folder of ["log", "audio"])
        expect(sumOf(samples, prometheusName(metricDefinitions.diskFree), { folder })).to.be.above(0);
      expect(sumOf(samples, prometheusName(metricDefinitions.logSize))).to.be.above(100_000);
      const ages = samples.filter(({ name }) => name === prometheusName(metricDefinitions.sealAge));
      expect(
        ages.map(({ value }) => value >= 0),
        "known from the start on",
      ).to.deep.equal([true]);
      const unrecovered = prometheusName(metricDefinitions.unrecoveredJournals);
      expect(samples.filter(({ name }) => name === unrecovered).map(({ value }) => value)).to.deep.equal([0]);
    });

    it("count refusals by reason", async () => {
      const text = freshText();
      const added = await growth(async () => {
        const tight = await registerWebsite(service.url, { monthlyCharacters: 10 });
        expect((await synthesize(service.url, tight, { voice, text })).status).to.equal(403);
        const wrong = { ...website, apiSecret: "x" };
        expect((await synthesize(service.url, wrong, { voice, text })).status).to.equal(401);
        // The burst limit is a twentieth of it.
        const slow = await registerWebsite(service.url, { requestsPerMinute: 400 });
        const all = await Promise.all(
          Array.from({ length: 21 }, () => synthesize(service.url, slow, { voice, text })),
        );
        await Promise.all(all.map(bytesOf));
        const statuses = all.map(({ status }) => status);
        expect(statuses.filter((status) => status !== 200)).to.deep.equal([429]);
      });
      for (const reason of ["quota", "unauthorized", "burst"])
        expect(added(prometheusName(metricDefinitions.refusals), { reason }), reason).to.equal(1);
      for (const code of ["KEY_SUSPENDED", "UNAUTHORIZED", "BURST_RATE_LIMIT_EXCEEDED"])
        expect(added(prometheusName(metricDefinitions.errors), { code }), code).to.equal(1);
      for (const metric of [metricDefinitions.suspendedKeys, metricDefinitions.suspensions])
        expect(added(prometheusName(metric), { cause: "quota" }), metric.name).to.equal(1);
    });

    it("count provider errors", async () => {
      await admin(service.url, "PUT", `/websites/${website.id}/credentials/oai`, goodCredentials.oai);
      const added = await growth(async () => {
        providers.oai.faults.next({ kind: "refusal", status: 400, message: "It will not." });
        const body = { voice: "alloy", text: freshText() };
        expect((await synthesizeByPost(service.url, website, body)).status).to.equal(502);
      });
      const labels = { engine: "oai", error_type: "400" };
      expect(added(prometheusName(metricDefinitions.upstreamErrors), labels)).to.equal(1);
      expect(added(durations, { outcome: "failed" })).to.equal(1);
    });

    it("have a separate port that serves nothing else", async () => {
      const { origin } = new URL(metricsUrl(service) ?? "");
      expect((await fetch(`${service.url}/metrics`)).status).to.equal(404);
      expect((await fetch(`${origin}/health`)).status).to.equal(404);
      expect((await fetch(`${origin}/metrics`, { method: "POST" })).status).to.equal(405);
    });

    it("have exactly the documented names, types and help texts", async () => {
      await bytesOf(await synthesize(service.url, website, { voice, text: freshText() }));
      const written = new Set(Object.values(metricDefinitions).map(prometheusName));
      const families = (await scrape()).map(({ name }) =>
        written.has(name) ? name : name.replace(/_(bucket|sum|count)$/, ""),
      );
      expect(families.filter((name) => !written.has(name) && name !== "target_info")).to.deep.equal([]);
    });
  });

  describe("OpenTelemetry", () => {
    const notLoaded = {
      "by default": {},
      "when it is disabled, whatever else is set": {
        ...{ METRICS_PORT: "0", OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" },
        OTEL_SDK_DISABLED: "true",
      },
    };
    for (const [when, env] of Object.entries(notLoaded)) {
      it(`is not loaded ${when}`, async () => {
        const other = await startService(folder.path, { ...env, NODE_OPTIONS: hook });
        await other.stop();
        expect(loadedModules(other)).to.deep.equal([]);
        expect(metricsUrl(other)).to.equal(undefined);
      });
    }

    it("is loaded when it is enabled", () => {
      expect(loadedModules(service)).not.to.deep.equal([]);
    });
  });
});
