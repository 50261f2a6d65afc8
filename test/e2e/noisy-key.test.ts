import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import { prometheusName } from "../../src/telemetry/metric-definition.ts";
import { metricDefinitions } from "../../src/telemetry/metrics.ts";
import { bytesOf, type Credentials, registerWebsite, synthesizeByPost } from "../support/client.ts";
import { duringSuite } from "../support/during.ts";
import { type RunningService, startService, temporaryFolder } from "../support/service.ts";
import { parseExposition, type Sample, sumOf } from "../support/telemetry/exposition.ts";

const voice = "UK English Female";
const parallel = 64;

/** Each takes a tool for so long that more of them wait than may. */
const newText = (number: number): string => `${number}. ${"7319046528".repeat(6)}`;

interface Received {
  readonly status: number;
  readonly retryAfter: number;
  readonly body: Buffer;
}

for (const workers of [1, 2])
  describe(`${parallel} new texts of one key at once, for one tool of ${workers} workers`, function () {
    this.timeout(600_000);
    const folder = duringSuite(temporaryFolder);
    let service: RunningService;
    let noisy: Credentials;
    let flood: readonly Received[];
    /** The statuses of another key's texts in the meantime. */
    let ofOther: readonly number[];

    const speak = async (key: Credentials, text: string): Promise<Received> => {
      const response = await synthesizeByPost(service.url, key, { voice, text });
      const retryAfter = Number(response.headers.get("retry-after"));
      return { status: response.status, retryAfter, body: await bytesOf(response) };
    };

    before(async () => {
      service = await startService(folder.path, {
        WORKERS: String(workers),
        SYNTHESIS_CONCURRENCY: "1",
        BURST_LIMIT: "1000000",
        METRICS_PORT: "0",
      });
      noisy = await registerWebsite(service.url);
      const other = await registerWebsite(service.url);
      const flooding = Promise.all(
        Array.from({ length: parallel }, (_, number) => speak(noisy, newText(number))),
      );
      const statuses: number[] = [];
      for (const text of ["Hello there.", "How are you?", "Goodbye."])
        statuses.push((await speak(other, text)).status);
      [flood, ofOther] = [await flooding, statuses];
    });
    after(() => service.kill());

    const scrape = async (): Promise<Sample[]> => {
      const line = service.log.find((one) => one.includes('"msg":"metrics"')) ?? "{}";
      return parseExposition(await (await fetch(JSON.parse(line).url)).text());
    };

    it("get 200 or 429 KEY_OVERLOADED with Retry-After, while another key is served", () => {
      expect(ofOther).to.deep.equal([200, 200, 200]);
      expect(new Set(flood.map(({ status }) => status))).to.deep.equal(new Set([200, 429]));
      for (const { status, retryAfter, body } of flood) {
        if (status === 200) continue;
        expect(JSON.parse(body.toString()).error).to.include({ statusCode: 429, code: "KEY_OVERLOADED" });
        expect(retryAfter).to.be.at.least(1);
      }
    });

    it("count as no failures of the service, and as no refusals for all keys", async () => {
      const samples = await scrape();
      const requests = `${prometheusName(metricDefinitions.requests)}_count`;
      const statuses = samples
        .filter(({ name }) => name === requests)
        .map(({ labels }) => labels.http_response_status_code ?? "");
      expect(statuses).to.include("429");
      expect(statuses.filter((status) => status.startsWith("5"))).to.deep.equal([]);
      const refusals = prometheusName(metricDefinitions.queueRefusals);
      expect(sumOf(samples, refusals, { scope: "all" })).to.equal(0);
      const overloaded = sumOf(samples, prometheusName(metricDefinitions.errors), { code: "KEY_OVERLOADED" });
      expect(sumOf(samples, refusals, { scope: "key" }))
        .to.equal(overloaded)
        .and.to.be.at.least(1);
    });

    it("are logged with the key, the code and the reason if they are refused", () => {
      const lines = service.log.filter((line) => line.includes("KEY_OVERLOADED"));
      expect(lines).to.have.length.at.least(flood.filter(({ status }) => status === 429).length);
      for (const line of lines) {
        const { apiKey, status, code, reason } = JSON.parse(line);
        expect([apiKey, status, code]).to.deep.equal([noisy.apiKey, 429, "KEY_OVERLOADED"]);
        expect(reason).to.match(/^Too many .* of this API key are waiting\.$/);
      }
    });

    it("are spoken if they are repeated as Retry-After says", async () => {
      const repeat = async (text: string): Promise<void> => {
        const { status, retryAfter } = await speak(noisy, text);
        if (status === 200) return;
        expect(status).to.equal(429);
        await delay(1_000 * retryAfter);
        await repeat(text);
      };
      const refused = [...flood.keys()].filter((number) => flood[number]?.status === 429);
      await Promise.all(refused.slice(0, 8).map((number) => repeat(newText(number))));
    });
  });
