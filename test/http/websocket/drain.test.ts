import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { duringTest } from "../../support/during.ts";
import { openWebSocketClient, type WebSocketClient } from "../../support/websocket-client.ts";
import { requestHandshake } from "./handshake-request.ts";
import type { ManualSynthesis } from "./manual-streaming.ts";
import { openRawWebSocketClient } from "./raw-websocket-client.ts";
import { type Registered, startSocketServer } from "./test-server.ts";

const request = { lang: "en-US", text: "Hello." };

describe("draining the streaming socket", () => {
  const served = duringTest(startSocketServer);
  let website: Registered;
  let client: WebSocketClient;

  beforeEach(async () => {
    website = await served.register();
    client = await openWebSocketClient(served.url, { headers: website.headers });
  });

  const start = async (): Promise<{ id: string; synthesis: ManualSynthesis }> => {
    const id = randomUUID();
    client.send({ type: "synthesize", id, request });
    const synthesis = await served.streaming.next();
    synthesis.start();
    await client.expect("stream_start");
    return { id, synthesis };
  };

  it("closes sockets without syntheses at once", async () => {
    await served.socket.drain(60_000);
    expect(await client.closed).to.include({ code: 1001 });
  });

  it("finishes syntheses in progress and refuses new ones", async () => {
    const { id, synthesis } = await start();
    const drained = served.socket.drain(60_000);
    const refused = randomUUID();
    client.send({ type: "synthesize", id: refused, request });
    const error = await client.expect("error");
    expect(error).to.include({ id: refused, code: "UNAVAILABLE", retryable: true, retryAfterSeconds: 1 });
    await synthesis.push(Buffer.from("the last chunk"));
    await client.expect("frame");
    synthesis.end();
    expect(await client.expect("stream_end")).to.include({ id });
    expect(await client.closed).to.include({ code: 1001 });
    await drained;
  });

  it("aborts the remaining syntheses after the timeout with a retryable error", async () => {
    const { id, synthesis } = await start();
    const drained = served.socket.drain(1_000);
    served.time.advance(1_000);
    expect(await client.expect("error")).to.include({ id, code: "UNAVAILABLE", retryable: true });
    expect(await client.closed).to.include({ code: 1012 });
    await drained;
    await synthesis.closed;
  });

  it("does not wait longer for a client that does not read", async () => {
    const stalled = await openRawWebSocketClient(served.url, website.headers);
    stalled.send({ type: "synthesize", id: randomUUID(), request });
    const synthesis = await served.streaming.next();
    synthesis.start();
    for (let i = 0; i < 600; i++) void synthesis.push(Buffer.alloc(60_000));
    await served.elapseUntil(served.socket.drain(1_000));
    await synthesis.closed;
    stalled.socket.destroy();
  });

  it("responds to a handshake with 503 and Retry-After", async () => {
    const { synthesis } = await start();
    const drained = served.socket.drain(60_000);
    const response = await requestHandshake(served.url, website.headers);
    expect(response.status).to.equal(503);
    expect(response.headers).to.include({ "retry-after": "1" }).and.to.have.property("x-request-id");
    expect(JSON.parse(response.text).error).to.include({ statusCode: 503, code: "UNAVAILABLE" });
    synthesis.end();
    await drained;
  });
});
