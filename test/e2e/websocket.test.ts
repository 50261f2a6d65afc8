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
import { until } from "../support/processes.ts";
import { adminToken, type RunningService, startService, temporaryFolder } from "../support/service.ts";
import { openWebSocketClient, type WebSocketClient } from "../support/websocket-client.ts";
import { closedGate } from "../support/wire/gate.ts";
import { openAiApiKey, serveOpenAi } from "../support/wire/openai.ts";
import type { WireServer } from "../support/wire/wire-server.ts";

const voice = "alloy";

/** The whole way: a paid provider at its wire, the service as a process, a client on a socket. */
describe("speech over a WebSocket", function () {
  this.timeout(60_000);
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let upstream: WireServer;
  let service: RunningService;
  let website: Credentials;
  let client: WebSocketClient;

  before(async () => {
    upstream = await serveOpenAi({ chunkBytes: 1_024 });
  });
  after(() => upstream.close());
  beforeEach(async () => {
    folder = await temporaryFolder();
  });

  const start = async (env: Record<string, string> = {}): Promise<void> => {
    service = await startService(folder.path, { OPENAI_URL: upstream.url, ...env });
    website = await registerWebsite(service.url);
    await admin(service.url, "PUT", `/websites/${website.id}/credentials/oai`, { apiKey: openAiApiKey });
    client = await openWebSocketClient(`${service.url.replace("http", "ws")}/v2/text/stream`, {
      headers: authorize(website),
    });
  };
  afterEach(async () => {
    upstream.faults.none();
    await client.close();
    await service.stop();
    await folder.remove();
  });

  const ask = (text: string): string => {
    const id = randomUUID();
    client.send({ type: "synthesize", id, request: { voice, text } });
    return id;
  };
  /** The frames' audio until the end of the stream. */
  const hear = async (): Promise<Buffer> => {
    const heard: Buffer[] = [];
    for (let message = await client.next(); message.type !== "stream_end"; message = await client.next()) {
      if (message.type !== "frame") throw new Error(`no frame: ${JSON.stringify(message)}`);
      heard.push(message.audio);
    }
    return Buffer.concat(heard);
  };
  const pastFrames = async () => {
    let message = await client.next();
    while (message.type === "frame") message = await client.next();
    return message;
  };
  const onTheLedger = async (type: string): Promise<Record<string, unknown>[]> => {
    const response = await fetch(`${service.url}/admin/audit?apiKey=${website.apiKey}`, {
      headers: { Authorization: `Bearer ${adminToken}` },
    });
    const events = (await response.text())
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    return events.filter((event) => event.type === type).map(({ data }) => data);
  };

  it("is the same sound as in one answer, and on the ledger from its beginning to its end", async () => {
    await start();
    const text = "The same sound, however it is asked for.";
    ask(text);
    expect(await client.expect("stream_start")).to.include({ contentType: "audio/mpeg" });
    const heard = await hear();
    const whole = await bytesOf(await synthesizeByPost(service.url, website, { voice, text }));
    expect(heard.equals(whole)).to.equal(true);
    const [served] = await onTheLedger("SynthesisServed");
    expect(served).to.include({ stream: "websocket", characters: text.length, engine: "oai" });
    let completed: Record<string, unknown>[] = [];
    while (completed.length === 0) completed = await onTheLedger("StreamEnded");
    expect(completed[0]).to.include({ requestId: served?.requestId, outcome: "whole", bytes: whole.length });
  });

  it("is heard while it is made", async () => {
    await start();
    const gate = closedGate();
    upstream.faults.next({ kind: "trickle", gate });
    ask("Heard from its first word on, long before its last word has been made.");
    gate.step(2);
    await client.expect("stream_start");
    await client.expect("frame");
    expect(upstream.activeRequests()).to.equal(1);
    gate.open();
    await hear();
    await upstream.idle();
  });

  it("lets its upstream go when it is cancelled", async () => {
    await start();
    const gate = closedGate();
    upstream.faults.next({ kind: "trickle", gate });
    const id = ask("This will not be heard to its end.");
    gate.step(2);
    await client.expect("stream_start");
    await client.expect("frame");
    client.send({ type: "cancel", id });
    expect(await pastFrames()).to.include({ type: "error", id, code: "CANCELLED" });
    await upstream.idle();
    expect(upstream.requests.at(-1)).to.include({ outcome: "left" });
  });

  it("is heard to its end when the service is told to end, which begins nothing more", async () => {
    await start();
    const gate = closedGate();
    upstream.faults.next({ kind: "trickle", gate });
    ask("The last words are heard all the same.");
    gate.step(2);
    await client.expect("stream_start");
    const exit = service.stop();
    await until("it drains", () => service.log.some((line) => line.includes("draining")));
    const late = ask("Too late.");
    expect(await pastFrames()).to.include({ type: "error", id: late, code: "UNAVAILABLE", retryable: true });
    gate.open();
    expect((await hear()).length).to.be.above(0);
    expect(await client.closed).to.include({ code: 1001 });
    expect(await exit).to.equal(0);
  });

  it("is broken off, to be asked for again, when the end can wait no longer", async () => {
    await start({ DRAIN_SECONDS: "1" });
    const gate = closedGate();
    upstream.faults.next({ kind: "trickle", gate });
    const id = ask("Nobody will hear the end of this.");
    gate.step(2);
    await client.expect("stream_start");
    const exit = service.stop();
    expect(await pastFrames()).to.include({ type: "error", id, code: "UNAVAILABLE", retryable: true });
    expect(await client.closed).to.include({ code: 1012 });
    expect(await exit).to.equal(0);
    await upstream.idle();
  });

  it("is heard by the README's own example", async () => {
    await start();
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
    expect(await readFile("README.md", "utf8")).to.include(source.slice(source.indexOf("\n") + 1));
  });

  it("is for the website's own engines alone", async () => {
    await start();
    const id = randomUUID();
    client.send({ type: "synthesize", id, voice: "UK English Female", text: "Hello." });
    expect(await client.next()).to.include({ type: "error", id, code: "NOT_FOUND", retryable: false });
  });
});
