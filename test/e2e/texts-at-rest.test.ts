import { readdirSync, readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { type ArticleResponse, urlsOf } from "../support/articles.ts";
import { admin, authorize, type Credentials, errorOf, registerWebsite } from "../support/client.ts";
import { duringSuite } from "../support/during.ts";
import { filesWith, formsIn } from "../support/find-text.ts";
import { adminToken, startInstance } from "../support/instance.ts";
import { descendantsOf } from "../support/processes.ts";
import type { RunningService } from "../support/service.ts";
import { temporaryFolder } from "../support/service.ts";
import { type OtlpCollector, startOtlpCollector } from "../support/telemetry/otlp-collector.ts";
import { serveWebhookReceiver, type WebhookReceiver } from "../support/webhook-receiver.ts";
import { openWebSocketClient } from "../support/websocket-client.ts";
import { openAiApiKey, serveOpenAi } from "../support/wire/openai.ts";
import type { WireServer } from "../support/wire/wire-server.ts";
import { openRawClient } from "../wyoming/raw-client.ts";

const marker = "Quillfrost";
let texts = 0;
/** A text that was never sent before, with characters that each encoding writes in another way. */
const fresh = (): string => `The ${marker} number ${++texts} is "at" \u00c9t\u00e9 & 100 % ready.`;

/**
 * A letter of the Vai script, which no tool of the machine pronounces, and its name in messages.
 */
const unknown = "\ua559";
const markers = [marker, "U+A559"];
const leaksIn = (bytes: Buffer): string[] => markers.flatMap((one) => formsIn(bytes, one));

const free = "UK English Female";
const paid = "alloy";

/** Each way to have a text spoken, at any log level, must leave it nowhere but in the response. */
describe("The texts of requests", () => {
  const folder = duringSuite(temporaryFolder);
  let collector: OtlpCollector;
  let byok: WireServer;
  let selfHosted: WireServer;
  let receiver: WebhookReceiver;
  let service: RunningService;
  let website: Credentials;
  /** Command lines and environments of the processes that the service started. */
  const commands = new Set<string>();
  const statuses: Record<string, number[]> = {};

  before(async function () {
    this.timeout(900_000); // on a busy machine
    [collector, receiver] = await Promise.all([startOtlpCollector(), serveWebhookReceiver()]);
    [byok, selfHosted] = await Promise.all([
      serveOpenAi(),
      serveOpenAi({ apiKey: "a-key-of-g2", models: ["kokoro"], voices: ["af_bella"], captions: true }),
    ]);
    await mkdir(join(folder.path, "tmp"));
    const env = {
      LOG_LEVEL: "trace",
      TMPDIR: join(folder.path, "tmp"),
      NODE_COMPILE_CACHE: join(folder.path, "compiled"),
      BURST_LIMIT: "100000",
      ALLOW_LOOPBACK_UPSTREAMS: "true",
      OPENAI_URL: byok.url,
      ENGINE_G2: `openai:${selfHosted.url}/v1?model=kokoro&voices=af_bella&captions=true&key=a-key-of-g2`,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_BSP_SCHEDULE_DELAY: "20",
      OTEL_METRIC_EXPORT_INTERVAL: "100",
      OTEL_METRIC_EXPORT_TIMEOUT: "100",
      METRICS_PORT: "0",
    };
    const first = await startInstance(join(folder.path, "data"), env);
    website = await registerWebsite(first.url);
    await admin(first.url, "PUT", `/websites/${website.id}/credentials/oai`, { apiKey: openAiApiKey });
    await admin(first.url, "POST", "/webhooks", { url: receiver.url });
    await first.stop();
    service = await startInstance(join(folder.path, "data"), {
      ...env,
      WYOMING_PORT: "0",
      WYOMING_KEY: `${website.apiKey}.${website.apiSecret}`,
    });
    await sendThroughEveryDoor();
  });
  after(async () => {
    await service?.stop();
    await Promise.all([collector, receiver, byok, selfHosted].map((server) => server.close()));
  });

  const noteCommands = (): void => {
    for (const { pid } of descendantsOf(service.pid)) {
      for (const file of ["cmdline", "environ"]) {
        try {
          commands.add(readFileSync(`/proc/${pid}/${file}`, "latin1"));
        } catch {
          // It exited meanwhile.
        }
      }
    }
  };
  const send = async (door: string, path: string, init: RequestInit = {}): Promise<Response> => {
    const sampling = setInterval(noteCommands, 20);
    const response = await fetch(service.url + path, {
      ...init,
      headers: { ...authorize(website), ...(init.headers as Record<string, string>) },
    });
    await response
      .clone()
      .arrayBuffer()
      .catch(() => undefined); // a stream that fails
    clearInterval(sampling);
    const seen = statuses[door] ?? [];
    statuses[door] = [...seen, response.status];
    return response;
  };
  const get = (
    door: string,
    query: Record<string, string>,
    init: RequestInit = {},
    path = "/v2/text/synthesize",
  ) => send(door, `${path}?${new URLSearchParams(query)}`, init);
  const post = (door: string, path: string, body: unknown, headers: Record<string, string> = {}) =>
    send(door, path, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });

  /** A refusal that quotes the text in many ways. */
  const echo = (status: number) => (text: string) => {
    const said = [
      text.toUpperCase(),
      encodeURIComponent(text),
      JSON.stringify(text),
      text.split(" ").join(" | "),
      Buffer.from(text).toString("base64"),
    ];
    return {
      kind: "answer" as const,
      response: {
        status,
        headers: { "Content-Type": "application/json" },
        body: Buffer.from(JSON.stringify({ error: { message: `Cannot speak ${said.join(", ")}` } })),
      },
    };
  };

  const sendThroughEveryDoor = async (): Promise<void> => {
    const text = fresh();
    for (const _ of [1, 2, 3]) await get("v2 GET", { voice: free, text });
    await get("v2 HEAD", { voice: free, text }, { method: "HEAD" });
    await get("v2 range", { voice: free, text }, { headers: { Range: "bytes=0-99" } });
    const whole = await get("v2 GET", { voice: free, text });
    const link = /<([^>]+marks\.json)>/.exec(whole.headers.get("link") ?? "")?.[1] ?? "";
    await send("marks", link);
    await get("v2 GET with a key", { voice: free, text: fresh() }, { headers: { "Idempotency-Key": "k1" } });
    await get("v2 GET with a key", { voice: free, text: fresh() }, { headers: { "Idempotency-Key": "k1" } });
    await get("v1 GET", { lang: "en-GB", text: fresh() }, {}, "/v1/text:synthesize");
    await get("flite", { name: "flite:slt", lang: "en-US", text: fresh() });
    await get("SSML", { voice: free, text: `<speak>${marker} <break/> once</speak>` });
    await get("self-hosted", { engine: "g2", lang: "en-US", text: fresh() });
    await post("v2 POST", "/v2/text/synthesize", { voice: free, text: fresh() });
    for (const voice of [free, paid]) {
      const parts = [fresh(), fresh()].map((text, id) => ({ id: String(id), text }));
      const prepared = await post("article", "/v2/articles", { voice, parts });
      const article = (await prepared.json()) as ArticleResponse;
      for (const url of urlsOf(article)) await send("article", url.slice(service.url.length));
    }
    await post("BYOK", "/v2/text/synthesize", { voice: paid, text: fresh() });
    const events = { Accept: "text/event-stream" };
    await post("SSE", "/v2/text/synthesize", { voice: paid, text: fresh(), stream: true }, events);
    await post("audio stream", "/v2/text/synthesize", { voice: paid, text: fresh() }, events);
    const speech = (input: string) => ({
      model: "tts-1",
      voice: paid,
      input,
      instructions: `Say ${marker} slowly.`,
    });
    await post("OpenAI", "/openai/v1/audio/speech", speech(fresh()));
    await post("OpenAI", "/openai/v1/audio/speech", { ...speech(fresh()), stream_format: "sse" });
    for (const form of ["", "/stream", "/with-timestamps", "/stream/with-timestamps"]) {
      const path = `/elevenlabs/v1/text-to-speech/UK_English_Female${form}`;
      await post("ElevenLabs", path, { text: fresh() });
    }
    await post(
      "operator",
      `/admin/keys/${website.apiKey}/speech`,
      { voice: free, text: fresh() },
      {
        Authorization: `Bearer ${adminToken}`,
      },
    );

    const socket = await openWebSocketClient(`${service.url.replace("http", "ws")}/v2/text/stream`, {
      headers: authorize(website),
    });
    const ids = ["00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"] as const;
    socket.send({ type: "synthesize", id: ids[0], request: { voice: paid, text: fresh() } });
    await socket.expect("stream_start");
    while ((await socket.next()).type === "frame");
    const quoted = fresh();
    byok.faults.next(echo(400)(quoted));
    socket.send({ type: "synthesize", id: ids[1], request: { voice: paid, text: quoted } });
    await socket.expect("error");
    socket.send({ type: marker, id: marker });
    await socket.close();

    const { url } = JSON.parse(service.log.find((line) => line.includes('"msg":"wyoming"')) ?? "");
    const wyoming = await openRawClient(url);
    wyoming.send("synthesize", { text: fresh(), voice: { name: free } });
    for (
      let event = await wyoming.next();
      event && event.type !== "audio-stop";
      event = await wyoming.next()
    );
    wyoming.send("synthesize", { text: fresh(), voice: { name: marker } });
    await wyoming.next();
    wyoming.socket.destroy();

    // Refused, or not readable.
    await get("invalid", { voice: free, text: fresh(), pitch: marker });
    await get("unknown voice", { voice: marker, text: fresh() });
    await get("too long", { voice: free, text: `${marker} `.repeat(600) });
    const exact = { engine: "g1", name: "flite:slt", lang: "en-US", text: unknown };
    for (const refused of [
      await get("unpronounceable", exact),
      await post("unpronounceable", "/v2/text/synthesize", exact),
    ]) {
      expect((await errorOf(refused)).message).to.include(`${unknown} (U+A559)`);
    }
    const input = { model: "tts-1", voice: free, input: unknown };
    await post("spoken by a server", "/openai/v1/audio/speech", input);
    await post("spoken by a server", "/openai/v1/audio/speech", { ...input, stream_format: "sse" });
    await post("spoken by a server", "/elevenlabs/v1/text-to-speech/UK_English_Female", { text: unknown });
    await send("not found", `/nothing/${marker}?text=${marker}`);
    await post("malformed", "/v2/text/synthesize", `{"text": "${fresh()}`);
    await post("malformed", "/openai/v1/audio/speech", `{"input": ${marker}}`);
    await send(
      "not authenticated",
      `/v2/text/synthesize?${new URLSearchParams({ voice: free, text: fresh() })}`,
      {
        headers: { "X-API-Secret": "wrong" },
      },
    );

    // Quoted by providers, before and after audio, until circuits open.
    for (const [status, expected] of [
      [400, 502],
      [401, 502],
      [500, 502],
      [200, 502],
    ] as const) {
      const asked = fresh();
      byok.faults.next(...Array(4).fill(echo(status)(asked)));
      const response = await post("quoted", "/v2/text/synthesize", { voice: paid, text: asked });
      expect(response.status).to.equal(expected);
      expect((await errorOf(response)).message).to.include("Cannot speak");
      byok.faults.none();
    }
    const cut = fresh();
    byok.faults.next({ kind: "cut", afterBytes: 6000 });
    await post("cut", "/v2/text/synthesize", { voice: paid, text: cut }, events).catch(() => undefined);
    byok.faults.none();
    const asked = fresh();
    selfHosted.faults.always(echo(500)(asked));
    for (let call = 0; call < 8; call++) {
      await get("self-hosted, quoted", { voice: "af_bella", text: call === 0 ? asked : fresh() });
    }
    selfHosted.faults.none();
  };

  it("are spoken, refused and quoted by providers through every door", () => {
    expect(
      Object.fromEntries(Object.entries(statuses).map(([door, all]) => [door, all.join(" ")])),
    ).to.deep.equal({
      "v2 GET": "200 200 200 200",
      "v2 HEAD": "200",
      "v2 range": "206",
      marks: "200",
      "v2 GET with a key": "200 400",
      "v1 GET": "200",
      flite: "200",
      SSML: "200",
      "self-hosted": "200",
      "v2 POST": "200",
      article: "200 200 200 200 200 200",
      BYOK: "200",
      SSE: "200",
      "audio stream": "200",
      OpenAI: "200 200",
      ElevenLabs: "200 200 200 200",
      operator: "200",
      invalid: "400",
      "unknown voice": "404",
      "too long": "400",
      unpronounceable: "400 400",
      "spoken by a server": "200 200 200",
      "not found": "404",
      malformed: "400 400",
      "not authenticated": "401",
      quoted: "502 502 502 502",
      cut: "200",
      "self-hosted, quoted": Array(8).fill("200").join(" "), // by another voice
    });
  });

  it("are in no log line, at the least severe level", () => {
    expect(service.log.filter((line) => leaksIn(Buffer.from(line)).length > 0)).to.deep.equal([]);
    expect(service.log.some((line) => line.includes('"A synthesis failed."'))).to.equal(true);
  });

  it("are in no trace and no metric", async () => {
    await collector.until(() => collector.spans.some(({ name }) => name === "ask provider"));
    const { url } = JSON.parse(service.log.find((line) => line.includes('"msg":"metrics"')) ?? "");
    const exported = [...collector.received, await (await fetch(url)).text()];
    expect(exported.filter((body) => leaksIn(Buffer.from(body)).length > 0)).to.deep.equal([]);
  });

  it("are in no report to operators, auditors and webhooks", async () => {
    for (const path of [
      "/health",
      "/admin/status",
      "/admin/audit",
      "/admin/events",
      "/admin/usage",
      "/admin/sounds",
    ]) {
      const response = await fetch(service.url + path, {
        headers: { Authorization: `Bearer ${adminToken}` },
      });
      expect(response.status, path).to.equal(200);
      expect(leaksIn(Buffer.from(await response.arrayBuffer())), path).to.deep.equal([]);
    }
    for (const { body } of receiver.received) expect(leaksIn(Buffer.from(body))).to.deep.equal([]);
  });

  it("are in no command line and no environment of the speech tools", () => {
    expect(commands.size).to.be.above(0);
    expect([...commands].filter((command) => leaksIn(Buffer.from(command)).length > 0)).to.deep.equal([]);
  });

  it("are in no core dump: no process of the service writes one", () => {
    const pids = [service.pid, ...descendantsOf(service.pid).map(({ pid }) => pid)];
    for (const pid of pids) {
      expect(readFileSync(`/proc/${pid}/limits`, "utf8")).to.match(/^Max core file size +0 +0 /m);
    }
  });

  it("are in no file: event log, audio, marks, snapshots, temporary files, compiled code", async () => {
    await service.stop();
    for (const one of markers) expect(await filesWith(folder.path, one)).to.deep.equal([]);
    expect(readdirSync("/dev/shm").filter((name) => name.startsWith("voxledger-"))).to.deep.equal([]);
  });

  it("would be found in each encoding", () => {
    const text = `before ${marker} after`;
    const utf16 = Buffer.from(text, "utf16le");
    for (const [bytes, form] of [
      [Buffer.from(text.toUpperCase()), "plain"],
      [Buffer.from(encodeURIComponent(text)), "plain"],
      [utf16, "UTF-16"],
      [Buffer.from(utf16).swap16(), "UTF-16"],
      [Buffer.from(Buffer.from(text).toString("hex")), "hex"],
      ...[0, 1, 2].map(
        (at) => [Buffer.from(Buffer.from(text.slice(at)).toString("base64")), "base64"] as const,
      ),
    ] as const) {
      expect(formsIn(bytes, marker)).to.deep.equal([form]);
    }
  });
});
