import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { duringSuite } from "../../support/during.ts";
import { openWebSocketClient } from "../../support/websocket-client.ts";
import { openRawWebSocketClient, type RawFrame } from "./raw-websocket-client.ts";
import { maxTextCharacters, type Registered, startSocketServer } from "./test-server.ts";

const ping = Buffer.from('{"type":"ping"}');
const largest = maxTextCharacters * 12 + 16 * 1024;

describe("an invalid frame", () => {
  const served = duringSuite(startSocketServer);
  let website: Registered;

  before(async () => {
    website = await served.register();
  });

  const invalidFrames: Record<string, { readonly frames: readonly RawFrame[]; readonly code: number }> = {
    unmasked: { frames: [{ first: 0x81, payload: ping, masked: false }], code: 1002 },
    "with an unknown opcode": { frames: [{ first: 0x83, payload: ping }], code: 1002 },
    "with a reserved bit": { frames: [{ first: 0xc1, payload: ping }], code: 1002 },
    "that continues no message": { frames: [{ first: 0x80, payload: ping }], code: 1002 },
    "a fragmented ping": { frames: [{ first: 0x09, payload: Buffer.alloc(1) }], code: 1002 },
    "a ping that is too long": { frames: [{ first: 0x89, payload: Buffer.alloc(126) }], code: 1002 },
    "text that is not UTF-8": { frames: [{ first: 0x81, payload: Buffer.from([0xff, 0xfe]) }], code: 1007 },
    "with a length above the maximum": {
      frames: [{ first: 0x81, payload: ping, length: largest + 1 }],
      code: 1009,
    },
    "with a length above 2^53": {
      frames: [{ first: 0x81, payload: ping, length: 2 ** 62 }],
      code: 1009,
    },
    "whose message exceeds the maximum in fragments": {
      frames: [
        { first: 0x01, payload: Buffer.alloc(largest - 10, 32) },
        { first: 0x80, payload: Buffer.alloc(11) },
      ],
      code: 1009,
    },
    "whose message has too many fragments": {
      frames: [
        { first: 0x01, payload: Buffer.from(" ") },
        ...Array.from({ length: 1_100 }, () => ({ first: 0x00, payload: Buffer.from(" ") })),
      ],
      code: 1008,
    },
  };
  for (const [problem, { frames, code }] of Object.entries(invalidFrames)) {
    it(`${problem} closes its socket with ${code}, ends its syntheses, and affects no other socket`, async () => {
      const other = await openWebSocketClient(served.url, { headers: website.headers });
      const client = await openRawWebSocketClient(served.url, website.headers);
      client.send({ type: "synthesize", id: randomUUID(), request: { lang: "en-US", text: "Hello." } });
      const synthesis = await served.streaming.next();
      synthesis.start();
      for (const frame of frames) client.frame(frame);
      await synthesis.closed;
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

  it("is neither the longest message, nor a fragmented one, nor a ping between fragments", async () => {
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

  it("is not needed to end a synthesis: the end of the connection is enough", async () => {
    const client = await openRawWebSocketClient(served.url, website.headers);
    client.send({ type: "synthesize", request: { lang: "en-US", text: "Hello." }, id: randomUUID() });
    const synthesis = await served.streaming.next();
    synthesis.start();
    client.socket.end();
    await synthesis.closed;
    client.socket.destroy();
  });
});
