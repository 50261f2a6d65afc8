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
import { type RunningService, startService, temporaryFolder } from "../support/service.ts";
import {
  type OtlpCollector,
  type ReceivedSpan,
  startOtlpCollector,
} from "../support/telemetry/otlp-collector.ts";
import { readLedger } from "../support/test-ledger.ts";
import { goodCredentials, serveProviders, type WireProviders } from "../support/wire/providers.ts";

const voice = "UK English Female";
const strange = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" };

describe("Traces and metrics sent to a collector", () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let collector: OtlpCollector;
  let providers: WireProviders;
  let service: RunningService;
  let website: Credentials;
  /** The characters that the service has charged. */
  let characters = 0;
  let texts = 0;
  const freshText = (): string => `Confidential sentence number ${++texts}.`;

  const telemetryEnv = (endpoint: string): Record<string, string> => ({
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    OTEL_BSP_SCHEDULE_DELAY: "20",
    OTEL_METRIC_EXPORT_INTERVAL: "100",
    OTEL_METRIC_EXPORT_TIMEOUT: "100",
    ...providers.env,
  });
  /** Runs another service over the same stores. */
  const withOther = async (
    env: Record<string, string>,
    use: (other: RunningService) => Promise<void>,
  ): Promise<void> => {
    const other = await startService(folder.path, env);
    try {
      await use(other);
    } finally {
      await other.stop();
    }
  };
  const metricsUrl = (): string | undefined => {
    const line = service.log.find((one) => one.includes('"msg":"metrics"'));
    return line && JSON.parse(line).url;
  };
  /** The trace with the span that has the attribute, once it also contains all of these spans. */
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
    [providers, collector, folder] = await Promise.all([
      serveProviders(),
      startOtlpCollector(),
      temporaryFolder(),
    ]);
    service = await startService(folder.path, { ...telemetryEnv(collector.url), TRUST_PROXY: "127.0.0.1" });
    website = await registerWebsite(service.url);
  });
  after(async () => {
    await service.stop();
    await Promise.all([providers.close(), collector.close(), folder.remove()]);
  });

  /** Resolves with the complete response. */
  const ask = async (text = freshText(), headers: Record<string, string> = {}): Promise<Response> => {
    characters += text.length;
    const response = await synthesize(service.url, website, { voice, text }, { headers });
    await bytesOf(response);
    return response;
  };
  const wholeWay = ["GET /v2/text/synthesize", "audio store put", "append journal"];

  it("show one trace from the request to engine, encoder, both stores and the ledger", async () => {
    const trace = await traceOf(await ask(), wholeWay);
    const request = "GET /v2/text/synthesize";
    expect(trace.find(({ name }) => name === request)?.parentSpanId).to.equal(undefined);
    expect(trace.find(({ name }) => name === request)).to.deep.include({ kind: 2, status: 0 });
    expect(parentOf(trace, "obtain sound")).to.equal(request);
    expect(parentOf(trace, "audio store get")).to.equal("obtain sound");
    expect(parentOf(trace, "speak g1")).to.equal("obtain sound");
    expect(parentOf(trace, "encode mp3")).to.equal("obtain sound");
    expect(trace.find(({ name }) => name === "encode mp3")?.attributes).to.deep.include({
      "voxledger.format": "mp3",
      "voxledger.sample_rate": 22_050,
    });
    expect(parentOf(trace, "audio store put")).to.equal("obtain sound");
    expect(parentOf(trace, "record usage")).to.equal(request);
    expect(parentOf(trace, "append journal")).to.equal("record usage");
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

  it("link an event in the log to the trace of its request", async () => {
    const response = await ask();
    const trace = await traceOf(response, wholeWay);
    const store = await openSqliteEventStore({ path: join(folder.path, "events.db"), readOnly: true });
    try {
      const requestId = response.headers.get("x-request-id");
      const servings = (await readLedger(store)).servings.filter((one) => one.requestId === requestId);
      const span = trace.find(({ name }) => name === "record usage");
      expect(servings.map(({ traceparent }) => traceparent)).to.deep.equal([
        `00-${span?.traceId}-${span?.spanId}-01`,
      ]);
    } finally {
      await store.close();
    }
  });

  it("include responses of the fast path", async () => {
    const text = freshText();
    await ask(text);
    await ask(text);
    const fromMemory = await ask(text);
    expect(fromMemory.headers.get("svc-cached")).to.equal("memory");
    const trace = await traceOf(fromMemory, ["GET /v2/text/synthesize", "append journal"]);
    expect(parentOf(trace, "record usage")).to.equal("GET /v2/text/synthesize");
  });

  it("include each provider request, and send the provider no trace context", async () => {
    await admin(service.url, "PUT", `/websites/${website.id}/credentials/oai`, goodCredentials.oai);
    const sent = providers.oai.requests.length;
    const text = freshText();
    characters += text.length;
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
    for (const { headers } of providers.oai.requests.slice(sent))
      expect(headers).not.to.have.any.keys("traceparent", "tracestate", "baggage");
  });

  it("continue the trace of a trusted proxy", async () => {
    const trace = await traceOf(await ask(freshText(), strange), ["GET /v2/text/synthesize"]);
    const request = trace.find(({ kind }) => kind === 2);
    expect(request).to.include({
      traceId: "0af7651916cd43dd8448eb211c80319c",
      parentSpanId: "b7ad6b7169203331",
    });
  });

  it("ignore the sampling decision of an untrusted caller", async () => {
    const received = await startOtlpCollector();
    const env = { ...telemetryEnv(received.url), OTEL_TRACES_SAMPLER: "parentbased_always_off" };
    await withOther(env, async ({ url }) => {
      const query = { voice, text: freshText() };
      await bytesOf(await synthesize(url, website, query, { headers: strange }));
    });
    await received.close();
    expect(received.spans).to.deep.equal([]);
  });

  it("contain no text, voice, key, secret or client address", async () => {
    const client = "203.0.113.7";
    const responsesBefore = collector.metrics.get("voxledger.synthesis.answers") ?? 0;
    await traceOf(await ask(freshText(), { "X-Forwarded-For": client }), wholeWay);
    await collector.until(
      () => (collector.metrics.get("voxledger.synthesis.answers") ?? 0) > responsesBefore,
    );
    const all = collector.received.join("\n");
    for (const private_ of [
      "Confidential",
      client,
      encodeURIComponent(voice),
      voice,
      website.apiKey,
      website.apiSecret,
      website.id,
    ])
      expect(all).not.to.include(private_);
    for (const place of [folder.path, "127.0.0.1", process.cwd()]) expect(all).not.to.include(place);
  });

  it("include metrics, while no metrics endpoint is served without a metrics port", async () => {
    await ask();
    await collector.until(() => collector.metrics.get("voxledger.synthesis.characters") === characters);
    await collector.until(() => (collector.metrics.get("http.server.request.duration") ?? 0) > 0);
    expect(metricsUrl()).to.equal(undefined);
  });

  it("do not block the service or its shutdown without a collector", async () => {
    await withOther(telemetryEnv("http://127.0.0.1:9"), async (other) => {
      expect((await synthesize(other.url, website, { voice, text: freshText() })).status).to.equal(200);
      expect(await other.stop()).to.equal(0);
    });
  });
});
