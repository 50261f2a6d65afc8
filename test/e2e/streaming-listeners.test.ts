import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { expect } from "chai";
import { admin, authorize, bytesOf, registerWebsite, synthesize } from "../support/client.ts";
import { duringSuite, duringTest } from "../support/during.ts";
import { until } from "../support/processes.ts";
import { startService, temporaryFolder } from "../support/service.ts";
import { eventsIn, type OpenStream, openStream, recordedStreamEnd } from "../support/streams.ts";
import { openWebSocketClient, type WebSocketClient } from "../support/websocket-client.ts";
import { closedGate } from "../support/wire/gate.ts";
import { serveLongSounds } from "../support/wire/long-sound.ts";

const voice = "alloy";
const megabyte = 1024 * 1024;

describe("the listeners of a stream", () => {
  const upstream = duringSuite(serveLongSounds);
  const folder = duringTest(temporaryFolder);
  const service = duringTest(() =>
    startService(folder.path, { OPENAI_URL: upstream.url, BURST_LIMIT: "1000000" }),
  );
  const website = duringTest(() => registerWebsite(service.url));
  const sockets: WebSocketClient[] = [];

  beforeEach(async () => {
    const credentials = { apiKey: "sk-test", voices: [voice] };
    const path = `/websites/${website.id}/credentials/oai`;
    expect((await admin(service.url, "PUT", path, credentials)).status).to.be.below(300);
  });
  afterEach(async () => {
    upstream.faults.none();
    for (const socket of sockets.splice(0)) socket.webSocket.terminate();
  });

  const syntheses = () => upstream.requests.filter(({ method }) => method === "POST");
  const stream = (text: string, form?: "audio" | "sse"): Promise<OpenStream> =>
    openStream(service.url, website, { voice, text }, form);
  const digestOfDownload = async (text: string): Promise<string> =>
    digestOf(await bytesOf(await synthesize(service.url, website, { voice, text })));

  /** Opens a socket and requests the synthesis on it. */
  const openSocket = async (text: string): Promise<WebSocketClient> => {
    const url = `${service.url.replace("http", "ws")}/v2/text/stream`;
    const client = await openWebSocketClient(url, { headers: authorize(website) });
    sockets.push(client);
    client.send({ type: "synthesize", id: randomUUID(), request: { voice, text } });
    return client;
  };
  const digestOfSocket = async (client: WebSocketClient): Promise<string> => {
    const hash = createHash("sha256");
    for (let message = await client.next(); message.type !== "stream_end"; message = await client.next()) {
      if (message.type === "error") throw new Error(message.message);
      if (message.type === "frame") hash.update(message.audio);
    }
    return hash.digest("hex");
  };
  /** The peak memory of the service. */
  const peakBytes = (): number =>
    Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${service.pid}/status`, "utf8"))?.[1]) * 1024;

  it("share one provider request and one copy, for 200 listeners that join and read at different times", async () => {
    const text = "All of them receive these 6 MB.";
    const before = peakBytes();
    const requests = syntheses().length;
    const gate = closedGate();
    upstream.faults.next({ kind: "trickle", gate });
    const streams: Promise<OpenStream>[] = [];
    const join = (count: number): void => {
      for (let i = 0; i < count; i++) streams.push(stream(text, i % 4 === 0 ? "sse" : "audio"));
    };
    join(60);
    const early = await openSocket(text);
    await gate.reached();
    gate.step(8);
    await Promise.all(streams);
    join(60);
    await Promise.all(streams);
    gate.step(8);
    join(70);
    const opened = await Promise.all(streams);
    const clients = [early, ...(await Promise.all(Array.from({ length: 9 }, () => openSocket(text))))];
    for (const client of clients) await client.expect("stream_start");
    for (const client of clients) client.webSocket.pause();
    gate.open();

    const first = await stream(text);
    const digest = digestOf(await first.readAudio());
    const afterTheFirst = peakBytes();
    for (const client of clients) client.webSocket.resume();
    const digests = await Promise.all([...opened.map(digestOfStream), ...clients.map(digestOfSocket)]);
    expect(digests).to.have.lengthOf(200);
    expect(new Set(digests)).to.deep.equal(new Set([digest]));
    expect(await digestOfDownload(text)).to.equal(digest);
    expect(syntheses().length).to.equal(requests + 1);
    expect(first.headers["svc-cached"]).to.equal("coalesced");
    // 200 copies would be 1.2 GB. Finished audio is in memory up to four times; the rest are
    // buffers.
    expect(afterTheFirst - before).to.be.below(300 * megabyte);
    expect(peakBytes() - before).to.be.below(400 * megabyte);
  });

  const stalled = {
    "over HTTP": async (text: string) => {
      const open = await stream(text);
      await once(open.body, "readable");
      return { resume: () => digestOfStream(open) };
    },
    "over HTTP as events": async (text: string) => {
      const open = await stream(text, "sse");
      await once(open.body, "readable");
      return { resume: () => digestOfStream(open) };
    },
    "over a WebSocket": async (text: string) => {
      const client = await openSocket(text);
      await client.expect("stream_start");
      client.webSocket.pause();
      return {
        resume: () => {
          client.webSocket.resume();
          return digestOfSocket(client);
        },
      };
    },
  };
  for (const [where, stall] of Object.entries(stalled)) {
    it(`stops the pull from the provider when it does not read ${where}, delays no other listener, and receives the rest`, async () => {
      const text = "These 48 MB wait for a listener that does not read.";
      const before = peakBytes();
      const listener = await stall(text);
      const held = syntheses().at(-1);
      // Other streams are read to their end until the stalled one has not moved during one of them.
      for (let others = 0, sent = -1; sent !== held?.bytesSent; others++) {
        sent = held?.bytesSent ?? 0;
        const other = await stream(`Others receive 2 MB, number ${others}.`);
        expect((await other.readAudio()).length).to.be.above(2 * megabyte);
      }
      expect(held?.outcome).to.equal("active");
      expect(held?.bytesSent).to.be.below(24 * megabyte);
      expect(peakBytes() - before).to.be.below(200 * megabyte);
      const digest = await listener.resume();
      await until("the upstream is whole", () => held?.outcome === "answered");
      expect(digest).to.equal(await digestOfDownload(text));
    });
  }

  it("aborts the provider's request when its connection is closed", async () => {
    const open = await stream("These 48 MB are not read.");
    await once(open.body, "readable");
    open.disconnect();
    await upstream.idle();
    expect(syntheses().at(-1)?.outcome).to.equal("left");
    const end = await recordedStreamEnd(service.url, website, open.headers["x-request-id"]);
    expect(end).to.include({ outcome: "left" });
  });
});

const digestOf = (sound: Buffer): string => createHash("sha256").update(sound).digest("hex");

/**
 * The digest of a stream, computed incrementally: 200 copies would not fit into this process
 * either.
 */
const digestOfStream = async ({ body, headers }: OpenStream): Promise<string> => {
  const hash = createHash("sha256");
  const types = new Set<string>();
  let events = "";
  for await (const bytes of body) {
    if (headers["x-streaming"] === "audio") {
      hash.update(bytes);
      continue;
    }
    events += bytes.toString("latin1");
    const end = events.lastIndexOf("\n\n") + 1;
    for (const { type, data } of eventsIn(events.slice(0, end))) {
      types.add(type);
      if (type === "audio") hash.update(Buffer.from(String(data.data), "base64"));
    }
    events = events.slice(end);
  }
  if (types.size > 0) expect([...types]).to.deep.equal(["metadata", "audio", "end"]);
  return hash.digest("hex");
};
