import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { openWebSocketClient } from "../../support/websocket-client.ts";
import { openRawWebSocketClient, type RawFrame } from "./raw-websocket-client.ts";
import {
  maxTextCharacters,
  type Registered,
  startSocketServer,
  type TestSocketServer,
} from "./test-server.ts";

const ping = Buffer.from('{"type":"ping"}');
const largest = maxTextCharacters * 12 + 16 * 1024;

describe("a frame that is none", () => {
  let served: TestSocketServer;
  let website: Registered;

  before(async () => {
    served = await startSocketServer();
    website = await served.register();
  });
  after(() => served.close());

  const wrong: Record<string, { readonly frames: readonly RawFrame[]; readonly code: number }> = {
    "not masked": { frames: [{ first: 0x81, payload: ping, masked: false }], code: 1002 },
    "of an opcode that nobody knows": { frames: [{ first: 0x83, payload: ping }], code: 1002 },
    "with a reserved bit": { frames: [{ first: 0xc1, payload: ping }], code: 1002 },
    "that goes on with nothing": { frames: [{ first: 0x80, payload: ping }], code: 1002 },
    "a ping in parts": { frames: [{ first: 0x09, payload: Buffer.alloc(1) }], code: 1002 },
    "a ping too long": { frames: [{ first: 0x89, payload: Buffer.alloc(126) }], code: 1002 },
    "text that is no UTF-8": { frames: [{ first: 0x81, payload: Buffer.from([0xff, 0xfe]) }], code: 1007 },
    "longer than any message": { frames: [{ first: 0x81, payload: ping, length: largest + 1 }], code: 1009 },
    "longer than there are numbers": {
      frames: [{ first: 0x81, payload: ping, length: 2 ** 62 }],
      code: 1009,
    },
    "longer, in parts": {
      frames: [
        { first: 0x01, payload: Buffer.alloc(largest - 10, 32) },
        { first: 0x80, payload: Buffer.alloc(11) },
      ],
      code: 1009,
    },
    "in more parts than a message has": {
      frames: [
        { first: 0x01, payload: Buffer.from(" ") },
        ...Array.from({ length: 1_100 }, () => ({ first: 0x00, payload: Buffer.from(" ") })),
      ],
      code: 1008,
    },
  };
  for (const [what, { frames, code }] of Object.entries(wrong)) {
    it(`(${what}) closes its socket with ${code}, lets go what was under way on it, and harms no other`, async () => {
      const other = await openWebSocketClient(served.url, { headers: website.headers });
      const client = await openRawWebSocketClient(served.url, website.headers);
      client.send({ type: "synthesize", id: randomUUID(), request: { lang: "en-US", text: "Hello." } });
      const performance = await served.streaming.next();
      performance.start();
      for (const frame of frames) client.frame(frame);
      await performance.closed;
      const closed = client.closeFrame();
      client.socket.end();
      expect(await closed)
        .to.include({ code })
        .and.have.property("reason")
        .that.matches(/^\w.+\.$/);
      other.send({ type: "ping" });
      await other.expect("pong");
      await other.close();
    });
  }

  it("is not the longest message, nor one in many parts, nor a ping between them", async () => {
    const client = await openWebSocketClient(served.url, { headers: website.headers });
    client.webSocket.send(Buffer.concat([ping, Buffer.alloc(largest - ping.length, 32)]), { binary: false });
    await client.expect("pong");
    for (const byte of ping.subarray(0, -1)) {
      client.webSocket.send(Buffer.from([byte]), { fin: false, binary: false });
      client.webSocket.ping();
    }
    client.webSocket.send(ping.subarray(-1), { fin: true, binary: false });
    await client.expect("pong");
    await client.close();
  });

  it("is not the end of a connection, which lets go as well", async () => {
    const client = await openRawWebSocketClient(served.url, website.headers);
    client.send({ type: "synthesize", request: { lang: "en-US", text: "Hello." }, id: randomUUID() });
    const performance = await served.streaming.next();
    performance.start();
    client.socket.end();
    await performance.closed;
    client.socket.destroy();
  });
});
