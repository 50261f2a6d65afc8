import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { expect } from "chai";
import {
  admin,
  authorize,
  bytesOf,
  type Credentials,
  registerWebsite,
  synthesizeByPost,
} from "../support/client.ts";
import { duringSuite } from "../support/during.ts";
import { until } from "../support/processes.ts";
import { adminToken, type RunningService, startService, temporaryFolder } from "../support/service.ts";
import { openWebSocketClient, type WebSocketClient } from "../support/websocket-client.ts";
import { closedGate } from "../support/wire/gate.ts";
import { openAiApiKey, serveOpenAi } from "../support/wire/openai.ts";

const voice = "alloy";

/** End to end: a fake paid provider, the service as a process, a client on a socket. */
describe("speech over a WebSocket", () => {
  const folder = duringSuite(temporaryFolder);
  const upstream = duringSuite(() => serveOpenAi({ chunkBytes: 1_024 }));
  const shared = duringSuite(() => start());
  /** The service of the test: the shared one, or its own if it shuts it down. */
  let service: RunningService;
  let website: Credentials;
  let client: WebSocketClient;

  const start = (env: Record<string, string> = {}): Promise<RunningService> =>
    startService(folder.path, { OPENAI_URL: upstream.url, ...env });

  const connect = async (to: RunningService): Promise<void> => {
    service = to;
    website = await registerWebsite(service.url);
    await admin(service.url, "PUT", `/websites/${website.id}/credentials/oai`, { apiKey: openAiApiKey });
    client = await openWebSocketClient(`${service.url.replace("http", "ws")}/v2/text/stream`, {
      headers: authorize(website),
    });
  };
  afterEach(async () => {
    upstream.faults.none();
    await client.close();
    if (service !== shared) await service.stop();
  });

  const synthesize = (text: string): string => {
    const id = randomUUID();
    client.send({ type: "synthesize", id, request: { voice, text } });
    return id;
  };
  /** The audio of all frames until stream_end. */
  const readStream = async (): Promise<Buffer> => {
    const received: Buffer[] = [];
    for (let message = await client.next(); message.type !== "stream_end"; message = await client.next()) {
      if (message.type !== "frame") throw new Error(`expected a frame, received ${JSON.stringify(message)}`);
      received.push(message.audio);
    }
    return Buffer.concat(received);
  };
  const nextMessage = async () => {
    let message = await client.next();
    while (message.type === "frame") message = await client.next();
    return message;
  };
  const eventsOfType = async (type: string): Promise<Record<string, unknown>[]> => {
    const response = await fetch(`${service.url}/admin/audit?apiKey=${website.apiKey}`, {
      headers: { Authorization: `Bearer ${adminToken}` },
    });
    const events = (await response.text())
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    return events.filter((event) => event.type === type).map(({ data }) => data);
  };

  it("delivers the same bytes as POST, and records SynthesisServed and StreamEnded", async () => {
    await connect(shared);
    const text = "The same audio over every protocol.";
    synthesize(text);
    expect(await client.expect("stream_start")).to.include({ contentType: "audio/mpeg" });
    const received = await readStream();
    const whole = await bytesOf(await synthesizeByPost(service.url, website, { voice, text }));
    expect(received.equals(whole)).to.equal(true);
    const [served] = await eventsOfType("SynthesisServed");
    expect(served).to.include({ stream: "websocket", characters: text.length, engine: "oai" });
    let completed: Record<string, unknown>[] = [];
    while (completed.length === 0) completed = await eventsOfType("StreamEnded");
    expect(completed[0]).to.include({ requestId: served?.requestId, outcome: "whole", bytes: whole.length });
  });

  it("sends frames while the provider is still sending", async () => {
    await connect(shared);
    const gate = closedGate();
    upstream.faults.next({ kind: "trickle", gate });
    synthesize("This text is sent while the provider is still synthesizing its last words.");
    gate.step(2);
    await client.expect("stream_start");
    await client.expect("frame");
    expect(upstream.activeRequests()).to.equal(1);
    gate.open();
    await readStream();
    await upstream.idle();
  });

  it("aborts the provider's request when the synthesis is cancelled", async () => {
    await connect(shared);
    const gate = closedGate();
    upstream.faults.next({ kind: "trickle", gate });
    const id = synthesize("This is cancelled before its end.");
    gate.step(2);
    await client.expect("stream_start");
    await client.expect("frame");
    client.send({ type: "cancel", id });
    expect(await nextMessage()).to.include({ type: "error", id, code: "CANCELLED" });
    await upstream.idle();
    expect(upstream.requests.at(-1)).to.include({ outcome: "left" });
  });

  it("finishes a synthesis at shutdown, and refuses new ones", async () => {
    await connect(await start());
    const gate = closedGate();
    upstream.faults.next({ kind: "trickle", gate });
    synthesize("This is finished during the shutdown.");
    gate.step(2);
    await client.expect("stream_start");
    const exit = service.stop();
    const draining = () => service.log.filter((line) => line.includes("draining")).length;
    await until("every instance drains", () => draining() === service.pids.length);
    const refused = synthesize("This is refused.");
    expect(await nextMessage()).to.include({
      type: "error",
      id: refused,
      code: "UNAVAILABLE",
      retryable: true,
    });
    gate.open();
    expect((await readStream()).length).to.be.above(0);
    expect(await client.closed).to.include({ code: 1001 });
    expect(await exit).to.equal(0);
  });

  it("aborts a synthesis with a retryable error when DRAIN_SECONDS have passed", async () => {
    await connect(await start({ DRAIN_SECONDS: "1" }));
    const gate = closedGate();
    upstream.faults.next({ kind: "trickle", gate });
    const id = synthesize("This is aborted by the shutdown.");
    gate.step(2);
    await client.expect("stream_start");
    const exit = service.stop();
    expect(await nextMessage()).to.include({ type: "error", id, code: "UNAVAILABLE", retryable: true });
    expect(await client.closed).to.include({ code: 1012 });
    expect(await exit).to.equal(0);
    await upstream.idle();
  });

  it("is received by the example", async () => {
    await connect(shared);
    const path = "scripts/examples/websocket.js";
    const { apiKey: API_KEY, apiSecret: API_SECRET } = website;
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [path], {
      env: { API_KEY, API_SECRET, BASE: service.url },
      encoding: "buffer",
    });
    expect(stderr.toString()).to.equal("");
    const source = await readFile(path, "utf8");
    const text = /text: "(.+)"/.exec(source)?.[1] ?? "";
    const whole = await bytesOf(await synthesizeByPost(service.url, website, { voice, text }));
    expect(stdout.equals(whole)).to.equal(true);
  });

  it("refuses voices of free engines with NOT_FOUND", async () => {
    await connect(shared);
    const id = randomUUID();
    client.send({ type: "synthesize", id, voice: "UK English Female", text: "Hello." });
    expect(await client.next()).to.include({ type: "error", id, code: "NOT_FOUND", retryable: false });
  });
});
