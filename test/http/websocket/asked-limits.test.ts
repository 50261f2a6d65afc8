import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { expect } from "chai";
import { WebSocket } from "ws";
import type { Counter } from "../../../src/telemetry/instruments.ts";
import { createAskedShares } from "../../support/asked-shares.ts";
import { duringTest } from "../../support/during.ts";
import { until } from "../../support/manual-time.ts";
import { openWebSocketClient } from "../../support/websocket-client.ts";
import { requestHandshake } from "./handshake-request.ts";
import { startSocketServer, type TestSocketServer } from "./test-server.ts";

const request = { lang: "en-US", text: "Hello." };

/** Responses to handshakes until each limit refuses, and the refusals in the metrics. */
const exhaustLimits = async (openShares?: ReturnType<typeof createAskedShares>["open"]) => {
  const counted: unknown[] = [];
  const refusals: Counter = { add: (_count, kind) => void counted.push(kind), entries: () => [] };
  const server = await startSocketServer(
    {},
    { socketsPerKey: 3, refusals, ...(openShares && { openShares }) },
  );
  try {
    const responses: unknown[] = [];
    const handshake = async (headers: Record<string, string>): Promise<void> => {
      const socket = new WebSocket(server.url, { headers }).on("error", () => {}); // a refused one
      const opened = once(socket, "upgrade").then(([response]) => response as IncomingMessage);
      const refused = once(socket, "unexpected-response").then(([, response]) => response as IncomingMessage);
      const { statusCode, headers: limits } = await Promise.race([opened, refused]);
      responses.push({ statusCode, remaining: limits["x-ratelimit-remaining"] });
    };
    const one = await server.register({ requestsPerMinute: 12 });
    for (let count = 0; count < 14; count++) await handshake(one.headers);
    const other = await server.register({ requestsPerMinute: 400 });
    for (let count = 0; count < 22; count++) await handshake(other.headers);
    for (let count = 0; count < 33; count++) await handshake({ ...one.headers, "X-API-Secret": "wrong" });
    return { responses, counted };
  } finally {
    await server.close();
  }
};

describe("a socket whose process must ask for its limits", () => {
  it("counts requests, bursts, wrong secrets and refusals once, as a process that has all of them", async () => {
    const shares = createAskedShares();
    const asking = await exhaustLimits(shares.open);
    expect(new Set(shares.asked)).to.deep.equal(new Set(["minute", "burst", "failures", "sockets"]));
    expect(asking).to.deep.equal(await exhaustLimits());
  });

  describe("while it waits", () => {
    let shares: ReturnType<typeof createAskedShares>;
    const served: TestSocketServer = duringTest(() => {
      shares = createAskedShares();
      return startSocketServer({}, { openShares: shares.open });
    });

    const openWaiting = async () => {
      const { headers } = await served.register();
      const client = await openWebSocketClient(served.url, { headers });
      shares.hold();
      const askedBefore = shares.asked.length;
      const id = randomUUID();
      client.send({ type: "synthesize", id, request });
      await until(() => shares.asked.length > askedBefore);
      return { client, id };
    };

    it("lets its client cancel a synthesis, which then counts as no request", async () => {
      const { client, id } = await openWaiting();
      client.send({ type: "cancel", id });
      expect(await client.next()).to.include({ type: "error", id, code: "CANCELLED" });
      shares.grant();
      client.send({ type: "ping" });
      await client.expect("pong");
      expect(served.streaming.begun).to.equal(0);
    });

    it("begins no synthesis after its client has disconnected", async () => {
      const { client } = await openWaiting();
      client.webSocket.terminate();
      await until(() => served.log.some((line) => line.includes('"socket"')));
      shares.grant();
      expect(served.streaming.begun).to.equal(0);
    });

    it("begins the synthesis when there is more", async () => {
      const { client, id } = await openWaiting();
      client.send({ type: "synthesize", id, request });
      expect(await client.next()).to.include({ type: "error", code: "CONFLICT" });
      shares.grant();
      (await served.streaming.next()).start();
      expect(await client.expect("stream_start")).to.include({ id });
    });

    it("lets no more syntheses wait than may be in progress", async () => {
      const { client } = await openWaiting();
      for (let count = 1; count < 8; count++) client.send({ type: "synthesize", id: randomUUID(), request });
      const id = randomUUID();
      client.send({ type: "synthesize", id, request });
      expect(await client.next()).to.include({ type: "error", id, code: "TOO_MANY_STREAMS" });
    });

    it("refuses a handshake if the service shuts down meanwhile", async () => {
      const { headers } = await served.register();
      shares.hold();
      const refused = requestHandshake(served.url, headers);
      await until(() => shares.asked.length > 0);
      const drained = served.socket.drain(1_000);
      shares.grant();
      expect((await refused).status).to.equal(503);
      await drained;
    });
  });
});
