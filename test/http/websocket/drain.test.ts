import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { openWebSocketClient, type WebSocketClient } from "../../support/websocket-client.ts";
import { requestHandshake } from "./handshake-request.ts";
import type { ManualSynthesis } from "./manual-streaming.ts";
import { openRawWebSocketClient } from "./raw-websocket-client.ts";
import { type Registered, startSocketServer, type TestSocketServer } from "./test-server.ts";

const request = { lang: "en-US", text: "Hello." };

describe("the end of the streaming socket", () => {
  let served: TestSocketServer;
  let website: Registered;
  let client: WebSocketClient;

  beforeEach(async () => {
    served = await startSocketServer();
    website = await served.register();
    client = await openWebSocketClient(served.url, { headers: website.headers });
  });
  afterEach(() => served.close());

  const begin = async (): Promise<{ id: string; performance: ManualSynthesis }> => {
    const id = randomUUID();
    client.send({ type: "synthesize", id, request });
    const performance = await served.streaming.next();
    performance.start();
    await client.expect("stream_start");
    return { id, performance };
  };

  it("closes sockets on which nothing is under way, at once", async () => {
    await served.socket.drain(60_000);
    expect(await client.closed).to.include({ code: 1001 });
  });

  it("lets what is under way be heard to its end, and begins nothing more", async () => {
    const { id, performance } = await begin();
    const drained = served.socket.drain(60_000);
    const refused = randomUUID();
    client.send({ type: "synthesize", id: refused, request });
    const error = await client.expect("error");
    expect(error).to.include({ id: refused, code: "UNAVAILABLE", retryable: true, retryAfterSeconds: 1 });
    await performance.push(Buffer.from("the last words"));
    await client.expect("frame");
    performance.end();
    expect(await client.expect("stream_end")).to.include({ id });
    expect(await client.closed).to.include({ code: 1001 });
    await drained;
  });

  it("breaks off what has not ended when its patience does, to be asked for again", async () => {
    const { id, performance } = await begin();
    const drained = served.socket.drain(1);
    expect(await client.expect("error")).to.include({ id, code: "UNAVAILABLE", retryable: true });
    expect(await client.closed).to.include({ code: 1012 });
    await drained;
    await performance.closed;
  });

  it("waits no longer for who does not listen", async () => {
    const deaf = await openRawWebSocketClient(served.url, website.headers);
    deaf.send({ type: "synthesize", id: randomUUID(), request });
    const performance = await served.streaming.next();
    performance.start();
    for (let i = 0; i < 600; i++) void performance.push(Buffer.alloc(60_000));
    await served.socket.drain(1);
    await performance.closed;
    deaf.socket.destroy();
  });

  it("answers a handshake with 503 and Retry-After while it drains", async () => {
    const { performance } = await begin();
    const drained = served.socket.drain(60_000);
    const answer = await requestHandshake(served.url, website.headers);
    expect(answer.status).to.equal(503);
    expect(answer.headers).to.include({ "retry-after": "1" }).and.to.have.property("x-request-id");
    expect(JSON.parse(answer.text).error).to.include({ statusCode: 503, code: "UNAVAILABLE" });
    performance.end();
    await drained;
  });
});
