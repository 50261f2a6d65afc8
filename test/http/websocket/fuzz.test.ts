import { randomUUID } from "node:crypto";
import { expect } from "chai";
import fc from "fast-check";
import { openWebSocketClient, type WebSocketClient } from "../../support/websocket-client.ts";
import { startSocketServer, type TestSocketServer } from "./test-server.ts";

/** The same in every run, and others on demand: FUZZ_SEED=… FUZZ_RUNS=… mocha test/http/websocket/fuzz.test.ts */
const seed = Number(process.env.FUZZ_SEED ?? 20_261_121);
const numRuns = Number(process.env.FUZZ_RUNS ?? 300);

const anyValue = fc.oneof(fc.jsonValue(), fc.constantFrom("g1", "gwn", 0, -1, 1e300, "__proto__", "\ud800"));
const message = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.json(),
  fc
    .record(
      {
        type: fc.oneof(fc.constantFrom("synthesize", "cancel", "pong", "PING"), anyValue),
        id: fc.oneof(fc.uuid(), anyValue),
        request: anyValue,
        text: anyValue,
        lang: anyValue,
        voice: anyValue,
        engine: anyValue,
        volume: anyValue,
        __proto__: anyValue,
      },
      { requiredKeys: [] },
    )
    .map((fields) => JSON.stringify(fields)),
);

describe("whatever is said on the streaming socket", () => {
  let served: TestSocketServer;
  let client: WebSocketClient;

  before(async () => {
    served = await startSocketServer({ streamsPerSocket: 1 });
    const { headers } = await served.register({ requestsPerMinute: 1_000_000 });
    client = await openWebSocketClient(served.url, { headers });
  });
  after(() => served.close());

  it("is answered or begun, never an accident, and leaves the socket open", async () => {
    const isNoAccident = async (text: string): Promise<void> => {
      const id = randomUUID();
      client.webSocket.send(text);
      // An id of ours that is in nobody's use: its refusal tells that all before it has been looked at.
      client.send({ type: "synthesize", id, request: {} });
      for (;;) {
        const told = await client.next();
        if (told.type !== "error") continue;
        expect(told.code).to.not.equal("INTERNAL_ERROR");
        if (told.id === id) return;
      }
    };
    await fc.assert(fc.asyncProperty(message, isNoAccident), { seed, numRuns });
    expect(client.webSocket.readyState).to.equal(client.webSocket.OPEN);
  }).timeout(60_000);
});
