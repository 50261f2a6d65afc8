import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { expect } from "chai";
import { openWebSocketClient, type WebSocketClient } from "../../support/websocket-client.ts";
import type { ManualSynthesis } from "./manual-streaming.ts";
import { openRawWebSocketClient } from "./raw-websocket-client.ts";
import { type Registered, startSocketServer, type TestSocketServer } from "./test-server.ts";

const request = { lang: "en-US", text: "Hello." };
const chunk = Buffer.alloc(60_000);
/** More than the system's own buffers take on a loopback, by far. */
const plenty = 600;

describe("a reader that does not read", () => {
  let served: TestSocketServer;
  let website: Registered;

  afterEach(() => served.close());
  const serve = async (...settings: Parameters<typeof startSocketServer>): Promise<void> => {
    served = await startSocketServer(...settings);
    website = await served.register();
  };

  const performed = async (): Promise<ManualSynthesis> => {
    const performance = await served.streaming.next();
    performance.start();
    return performance;
  };
  const begin = async (client: WebSocketClient): Promise<ManualSynthesis> => {
    client.send({ type: "synthesize", id: randomUUID(), request });
    const performance = await performed();
    await client.expect("stream_start");
    return performance;
  };
  /** All of a stream of plenty, read as it comes. */
  const hear = async (client: WebSocketClient, performance: ManualSynthesis): Promise<void> => {
    for (let i = 0; i < plenty; i++) {
      await performance.push(chunk);
      await client.expect("frame");
    }
    performance.end();
    await client.expect("stream_end");
  };

  it("is held back at its upstream, and costs others on other sockets nothing", async () => {
    await serve();
    const stuck = await openRawWebSocketClient(served.url, website.headers);
    stuck.send({ type: "synthesize", id: randomUUID(), request });
    const unheard = await performed();
    for (let i = 0; i < 2 * plenty; i++) void unheard.push(chunk);
    unheard.end();
    const client = await openWebSocketClient(served.url, { headers: website.headers });
    await hear(client, await begin(client));
    await hear(client, await begin(client));
    expect(unheard.pulled).to.be.below(plenty / 2);
    await client.close();

    let bytes = 0;
    stuck.socket.on("data", (data: Buffer) => {
      bytes += data.length;
      if (bytes > 2 * plenty * chunk.length) stuck.socket.destroy();
    });
    stuck.socket.resume();
    await once(stuck.socket, "close");
    expect(unheard.pulled).to.equal(2 * plenty);
  });

  it("is not read from either: what it asks waits until it listens", async () => {
    await serve();
    const client = await openWebSocketClient(served.url, { headers: website.headers });
    const performance = await begin(client);
    client.webSocket.pause();
    for (let i = 0; i < plenty; i++) void performance.push(chunk);
    // Every one of them is a refusal, each larger than the message: far more than is kept for a reader.
    const questions = 20_000;
    for (let i = 0; i < questions; i++) client.webSocket.send("{}");
    client.send({ type: "ping" });
    client.webSocket.resume();
    let refusals = 0;
    for (let message = await client.next(); message.type !== "pong"; message = await client.next()) {
      if (message.type === "error") refusals += 1;
    }
    expect(refusals).to.equal(questions);
    performance.end();
    await client.close();
  });

  it("is cut off when it has taken nothing for too long, and its upstream let go", async () => {
    await serve({ stallMs: 200 });
    const stuck = await openRawWebSocketClient(served.url, website.headers);
    stuck.send({ type: "synthesize", id: randomUUID(), request });
    const unheard = await performed();
    for (let i = 0; i < plenty; i++) void unheard.push(chunk);
    await unheard.closed;
    expect(unheard.signal.aborted).to.equal(true);
    stuck.socket.destroy();
  });

  it("is cut off when it answers no ping, though there is nothing to take", async () => {
    await serve({ stallMs: 200 });
    const silent = await openRawWebSocketClient(served.url, website.headers);
    silent.send({ type: "synthesize", id: randomUUID(), request });
    const unheard = await performed();
    await unheard.closed;
    silent.socket.destroy();
  });

  it("is told to go when its socket has been open for nothing", async () => {
    await serve({ idleMs: 100 });
    const client = await openWebSocketClient(served.url, { headers: website.headers });
    expect(await client.closed).to.deep.equal({ code: 1000, reason: "The socket was idle." });
  });

  it("may take its time while it is spoken to, and answers pings", async () => {
    // The patience that HTTP has with a silent connection is not a socket's.
    await serve({ idleMs: 100, stallMs: 600 }, { silenceMs: 50 });
    const client = await openWebSocketClient(served.url, { headers: website.headers });
    const performance = await begin(client);
    for (let pings = 0; pings < 4; pings++) await once(client.webSocket, "ping");
    performance.end();
    await client.expect("stream_end");
    expect(await client.closed).to.deep.equal({ code: 1000, reason: "The socket was idle." });
  });
});
