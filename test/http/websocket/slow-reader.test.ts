import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { expect } from "chai";
import { openWebSocketClient, type WebSocketClient } from "../../support/websocket-client.ts";
import type { ManualSynthesis } from "./manual-streaming.ts";
import { openRawWebSocketClient } from "./raw-websocket-client.ts";
import { type Registered, startSocketServer, type TestSocketServer } from "./test-server.ts";

const request = { lang: "en-US", text: "Hello." };
const chunk = Buffer.alloc(60_000);
/** Far more than the kernel buffers on the loopback. */
const chunkCount = 600;

/** Resolves when the server has handled everything that the client has sent, pongs included. */
const roundTrip = async (client: WebSocketClient): Promise<void> => {
  client.send({ type: "ping" });
  await client.expect("pong");
};

describe("a client that does not read", () => {
  let served: TestSocketServer;
  let website: Registered;

  afterEach(() => served.close());
  const serve = async (...settings: Parameters<typeof startSocketServer>): Promise<void> => {
    served = await startSocketServer(...settings);
    website = await served.register();
  };

  const startedSynthesis = async (): Promise<ManualSynthesis> => {
    const synthesis = await served.streaming.next();
    synthesis.start();
    return synthesis;
  };
  const start = async (client: WebSocketClient): Promise<ManualSynthesis> => {
    client.send({ type: "synthesize", id: randomUUID(), request });
    const synthesis = await startedSynthesis();
    await client.expect("stream_start");
    return synthesis;
  };
  /** Pushes all chunks of a stream and reads each one. */
  const readAll = async (client: WebSocketClient, synthesis: ManualSynthesis): Promise<void> => {
    for (let i = 0; i < chunkCount; i++) {
      await synthesis.push(chunk);
      await client.expect("frame");
    }
    synthesis.end();
    await client.expect("stream_end");
  };

  it("stops the pull from its upstream, and delays no other socket", async () => {
    await serve();
    const stalled = await openRawWebSocketClient(served.url, website.headers);
    stalled.send({ type: "synthesize", id: randomUUID(), request });
    const unread = await startedSynthesis();
    for (let i = 0; i < 2 * chunkCount; i++) void unread.push(chunk);
    unread.end();
    const client = await openWebSocketClient(served.url, { headers: website.headers });
    await readAll(client, await start(client));
    await readAll(client, await start(client));
    expect(unread.pulled).to.be.below(chunkCount / 2);
    await client.close();

    let bytes = 0;
    stalled.socket.on("data", (data: Buffer) => {
      bytes += data.length;
      if (bytes > 2 * chunkCount * chunk.length) stalled.socket.destroy();
    });
    stalled.socket.resume();
    await once(stalled.socket, "close");
    expect(unread.pulled).to.equal(2 * chunkCount);
  });

  it("is not read from either: its messages wait until it reads", async () => {
    await serve();
    const client = await openWebSocketClient(served.url, { headers: website.headers });
    const synthesis = await start(client);
    client.webSocket.pause();
    for (let i = 0; i < chunkCount; i++) void synthesis.push(chunk);
    // Several reads of the network. Each response is larger than its message: together they exceed
    // the outbox by far.
    const messages = 4_000;
    for (let i = 0; i < messages; i++) client.send({ unknown: "x".repeat(40) });
    client.send({ type: "ping" });
    client.webSocket.resume();
    let refusals = 0;
    for (let message = await client.next(); message.type !== "pong"; message = await client.next()) {
      if (message.type === "error") refusals += 1;
    }
    expect(refusals).to.equal(messages);
    synthesis.end();
    await client.close();
  });

  it("is disconnected after the stall timeout, and its upstream is aborted", async () => {
    await serve({ stallMs: 200 });
    const stalled = await openRawWebSocketClient(served.url, website.headers);
    stalled.send({ type: "synthesize", id: randomUUID(), request });
    const unread = await startedSynthesis();
    for (let i = 0; i < chunkCount; i++) void unread.push(chunk);
    await served.elapseUntil(unread.closed);
    expect(unread.signal.aborted).to.equal(true);
    stalled.socket.destroy();
  });

  it("is disconnected if it responds to no ping, even if nothing was sent to it", async () => {
    await serve({ stallMs: 200 });
    const silent = await openRawWebSocketClient(served.url, website.headers);
    silent.send({ type: "synthesize", id: randomUUID(), request });
    const unread = await startedSynthesis();
    await served.elapseUntil(unread.closed);
    silent.socket.destroy();
  });

  it("is disconnected with a reason after the idle timeout", async () => {
    await serve({ idleMs: 100 });
    const client = await openWebSocketClient(served.url, { headers: website.headers });
    expect(await served.elapseUntil(client.closed)).to.deep.equal({
      code: 1000,
      reason: "The socket was idle.",
    });
  });

  it("stays connected during a synthesis while it responds to pings", async () => {
    await serve({ idleMs: 100, stallMs: 600 });
    const client = await openWebSocketClient(served.url, { headers: website.headers });
    const synthesis = await start(client);
    for (let pings = 0; pings < 4; pings++) {
      const response = once(client.webSocket, "ping");
      await served.elapseUntil(response);
      await roundTrip(client);
    }
    synthesis.end();
    await client.expect("stream_end");
    expect(await served.elapseUntil(client.closed)).to.deep.equal({
      code: 1000,
      reason: "The socket was idle.",
    });
  });

  it("is not affected by the timeout of silent HTTP connections", async () => {
    await serve({}, { inactivityMs: 500 });
    const client = await openWebSocketClient(served.url, { headers: website.headers });
    const { hostname, port } = new URL(served.httpUrl);
    await once(connect({ host: hostname, port: Number(port) }).resume(), "close");
    await roundTrip(client);
    await client.close();
  });
});
