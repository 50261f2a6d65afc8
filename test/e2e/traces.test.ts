import { join } from "node:path";
import { expect } from "chai";
import { openSqliteEventStore } from "../../src/eventstore/sqlite/sqlite-event-store.ts";
import {
  admin,
  bytesOf,
  type Credentials,
  registerWebsite,
  synthesize,
  synthesizeByPost,
} from "../support/client.ts";
import { collect } from "../support/collect.ts";
import { type RunningService, startService, temporaryFolder } from "../support/service.ts";
import {
  type OtlpCollector,
  type ReceivedSpan,
  startOtlpCollector,
} from "../support/telemetry/otlp-collector.ts";
import { goodCredentials, serveProviders, type WireProviders } from "../support/wire/providers.ts";

const text = "A sentence that nobody else is to read.";
const voice = "UK English Female";
const strange = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" };

describe("traces and metrics for a collector", function () {
  this.timeout(60_000);
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let collector: OtlpCollector;
  let providers: WireProviders;
  let service: RunningService;
  let website: Credentials;

  const start = async (env: Record<string, string> = {}): Promise<void> => {
    service = await startService(folder.path, env);
    website = await registerWebsite(service.url);
  };
  const told = (): Record<string, string> => ({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    OTEL_BSP_SCHEDULE_DELAY: "20",
    OTEL_METRIC_EXPORT_INTERVAL: "100",
    OTEL_METRIC_EXPORT_TIMEOUT: "100",
    ...providers.env,
  });
  const metricsUrl = (): string | undefined => {
    const line = service.log.find((one) => one.includes('"msg":"metrics"'));
    return line && JSON.parse(line).url;
  };
  /** The trace that holds a span with the attribute, once it also holds all of these. */
  const traceWith = async (
    attribute: string,
    value: unknown,
    names: readonly string[],
  ): Promise<ReceivedSpan[]> => {
    const found = (): ReceivedSpan[] => {
      const first = collector.spans.find(({ attributes }) => attributes[attribute] === value);
      return collector.spans.filter(({ traceId }) => traceId === first?.traceId);
    };
    await collector.until(() => names.every((name) => found().some((span) => span.name === name)));
    return found();
  };
  const traceOf = (response: Response, names: readonly string[]): Promise<ReceivedSpan[]> =>
    traceWith("voxledger.request_id", response.headers.get("x-request-id"), names);
  const parentOf = (trace: readonly ReceivedSpan[], name: string): string | undefined => {
    const child = trace.find((span) => span.name === name);
    return trace.find(({ spanId }) => spanId === child?.parentSpanId)?.name;
  };

  before(async () => {
    providers = await serveProviders();
  });
  after(() => providers.close());
  beforeEach(async () => {
    folder = await temporaryFolder();
    collector = await startOtlpCollector();
  });
  afterEach(async () => {
    await service.stop();
    await collector.close();
    await folder.remove();
  });

  const ask = (more: Record<string, string> = {}, headers: Record<string, string> = {}): Promise<Response> =>
    synthesize(service.url, website, { voice, text, ...more }, { headers });
  const wholeWay = ["GET /v2/text/synthesize", "audio store put", "append usage"];

  it("shows one trace from the request to engine, encoder, both stores and the ledger", async () => {
    await start(told());
    const response = await ask();
    await bytesOf(response);
    const trace = await traceOf(response, wholeWay);
    const request = "GET /v2/text/synthesize";
    expect(trace.find(({ name }) => name === request)?.parentSpanId).to.equal(undefined);
    expect(trace.find(({ name }) => name === request)).to.deep.include({ kind: 2, status: 0 });
    expect(parentOf(trace, "obtain sound")).to.equal(request);
    expect(parentOf(trace, "audio store get")).to.equal("obtain sound");
    expect(parentOf(trace, "speak g1")).to.equal("obtain sound");
    expect(parentOf(trace, "encode mp3")).to.equal("obtain sound");
    expect(parentOf(trace, "audio store put")).to.equal("obtain sound");
    expect(parentOf(trace, "record usage")).to.equal(request);
    expect(parentOf(trace, "append usage")).to.equal("record usage");
    expect(trace.find(({ name }) => name === "obtain sound")?.attributes).to.deep.include({
      "voxledger.provenance": "miss",
      "voxledger.engine": "g1",
    });
    expect(trace[0]?.resource).to.include({ "service.name": "voxledger" });
    expect(trace[0]?.resource).to.have.property("service.instance.id");
    expect(
      Object.keys(trace[0]?.resource ?? {}).filter((key) => /^(process|host)\./.test(key)),
    ).to.deep.equal([]);
  });

  it("lets an event in the log lead to the trace that it was decided in", async () => {
    await start(told());
    const response = await ask();
    await bytesOf(response);
    const trace = await traceOf(response, wholeWay);
    const store = await openSqliteEventStore({ path: join(folder.path, "events.db"), readOnly: true });
    try {
      const month = new Date().toISOString().slice(0, 7);
      const events = await collect(store.readStream(`usage-${website.apiKey}-${month}`));
      const span = trace.find(({ name }) => name === "record usage");
      expect(events.map(({ metadata }) => metadata.traceparent)).to.deep.equal([
        `00-${span?.traceId}-${span?.spanId}-01`,
      ]);
    } finally {
      await store.close();
    }
  });

  it("follows what the fast path answers, too", async () => {
    await start(told());
    await bytesOf(await ask());
    await bytesOf(await ask());
    const fromMemory = await ask();
    expect(fromMemory.headers.get("svc-cached")).to.equal("memory");
    const trace = await traceOf(fromMemory, ["GET /v2/text/synthesize", "append usage"]);
    expect(parentOf(trace, "record usage")).to.equal("GET /v2/text/synthesize");
  });

  it("shows each request to a provider, and the provider nothing of the trace", async () => {
    await start(told());
    await admin(service.url, "PUT", `/websites/${website.id}/credentials/oai`, goodCredentials.oai);
    const asked = providers.oai.requests.length;
    const body = { voice: "alloy", text, stream: true };
    const response = await synthesizeByPost(service.url, website, body);
    await bytesOf(response);
    const trace = await traceOf(response, [
      "ask provider",
      "speak oai",
      "POST /v2/text/synthesize",
      "stream",
    ]);
    expect(parentOf(trace, "ask provider")).to.equal("speak oai");
    expect(parentOf(trace, "stream")).to.equal("POST /v2/text/synthesize");
    expect(trace.find(({ name }) => name === "ask provider")).to.deep.include({
      kind: 3,
      attributes: {
        "http.request.method": "POST",
        "http.response.status_code": 200,
        "voxledger.outcome": "made",
      },
    });
    for (const { headers } of providers.oai.requests.slice(asked))
      expect(headers).not.to.have.any.keys("traceparent", "tracestate", "baggage");
  });

  it("goes on with the trace of a trusted proxy", async () => {
    await start({ ...told(), TRUST_PROXY: "127.0.0.1" });
    const response = await ask({}, strange);
    await bytesOf(response);
    const trace = await traceOf(response, ["GET /v2/text/synthesize"]);
    const request = trace.find(({ kind }) => kind === 2);
    expect(request).to.include({
      traceId: "0af7651916cd43dd8448eb211c80319c",
      parentSpanId: "b7ad6b7169203331",
    });
  });

  it("lets nobody else decide what is traced", async () => {
    await start({ ...told(), OTEL_TRACES_SAMPLER: "parentbased_always_off" });
    await bytesOf(await ask({}, strange));
    await service.stop();
    expect(collector.spans).to.deep.equal([]);
  });

  it("holds nothing of the text, the voice, the key, the secret or the caller", async () => {
    await start(told());
    const response = await ask();
    await bytesOf(response);
    await traceOf(response, wholeWay);
    await collector.until(() => (collector.metrics.get("voxledger.synthesis.answers") ?? 0) > 0);
    const all = collector.received.join("\n");
    for (const private_ of [
      text,
      encodeURIComponent(voice),
      voice,
      website.apiKey,
      website.apiSecret,
      website.id,
    ])
      expect(all).not.to.include(private_);
    for (const place of [folder.path, "127.0.0.1", process.cwd()]) expect(all).not.to.include(place);
  });

  it("sends the metrics as well, and serves none where no port is given for them", async () => {
    await start(told());
    await bytesOf(await ask());
    await collector.until(() => collector.metrics.get("voxledger.synthesis.characters") === text.length);
    await collector.until(() => (collector.metrics.get("http.server.request.duration") ?? 0) > 0);
    expect(metricsUrl()).to.equal(undefined);
  });

  it("is not waited for: without a collector the service serves, and ends", async () => {
    await start({ ...told(), OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" });
    expect((await ask()).status).to.equal(200);
    expect(await service.stop()).to.equal(0);
  });
});
