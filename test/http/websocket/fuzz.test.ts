import { randomUUID } from "node:crypto";
import { expect } from "chai";
import fc from "fast-check";
import { anyCharacter } from "../../support/any-character.ts";
import { duringSuite } from "../../support/during.ts";
import { openWebSocketClient, type WebSocketClient } from "../../support/websocket-client.ts";
import { startSocketServer } from "./test-server.ts";

/** Fixed by default. Other runs: TEST_SEED=… FUZZ_RUNS=… mocha test/http/websocket/fuzz.test.ts */
const seed = Number(process.env.TEST_SEED ?? 20_261_121);
const numRuns = Number(process.env.FUZZ_RUNS ?? 300);

const anyValue = fc.oneof(fc.jsonValue(), fc.constantFrom("g1", "gwn", 0, -1, 1e300, "__proto__", "\ud800"));
const message = fc.oneof(
  fc.string({ unit: anyCharacter }),
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

describe("any message on the streaming socket", () => {
  const served = duringSuite(() => startSocketServer({ streamsPerSocket: 1 }));
  let client: WebSocketClient;

  before(async () => {
    const { headers } = await served.register({ requestsPerMinute: 1_000_000 });
    client = await openWebSocketClient(served.url, { headers });
  });

  it(`never causes an INTERNAL_ERROR, and leaves the socket open (seed ${seed})`, async () => {
    const causesNoFault = async (text: string): Promise<void> => {
      const id = randomUUID();
      client.webSocket.send(text);
      // The error for this id shows that all messages before it have been handled.
      client.send({ type: "synthesize", id, request: {} });
      for (;;) {
        const received = await client.next();
        if (received.type !== "error") continue;
        expect(received.code).to.not.equal("INTERNAL_ERROR");
        if (received.id === id) return;
      }
    };
    await fc.assert(fc.asyncProperty(message, causesNoFault), { seed, numRuns });
    expect(client.webSocket.readyState).to.equal(client.webSocket.OPEN);
  });
});
