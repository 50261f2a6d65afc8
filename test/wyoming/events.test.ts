import { expect } from "chai";
import { expectError, expectEvent } from "./expectations.ts";
import { eventBytes, type RawClient } from "./raw-client.ts";
import { startWyomingServer, type TestWyomingServer } from "./test-server.ts";

describe("a connection of the Wyoming protocol reads events", () => {
  let served: TestWyomingServer;
  let client: RawClient;

  const serve = async (): Promise<void> => {
    served = await startWyomingServer();
    client = await served.connect();
  };
  afterEach(() => served.close());

  it("in fragments of single bytes", async () => {
    await serve();
    for (const byte of eventBytes("ping", { text: "Grüße" })) client.write(Buffer.from([byte]));
    await expectEvent(client, "pong", { text: "Grüße" });
  });

  it("with data in the header, and several in a chunk", async () => {
    await serve();
    client.write(
      Buffer.concat([
        Buffer.from('{"type":"ping","data":{"text":"one"}}\n'),
        Buffer.from('{"type":"ping","data":{"text":"two"},"data_length":null}\r\n'),
        Buffer.from('{"type":"ping","data":{"text":"no"},"data_length":16}\n{"text":"three"}'),
      ]),
    );
    for (const text of ["one", "two", "three"]) await expectEvent(client, "pong", { text });
  });

  it("and ignores unknown ones, with their payload", async () => {
    await serve();
    client.send("audio-chunk", { rate: 16_000, width: 2, channels: 1 }, Buffer.alloc(300_000, "\n"));
    client.send("toString", { text: "" });
    client.send("select-program", { name: "Voxledger" });
    client.send("ping");
    await expectEvent(client, "pong", { text: null });
  });

  const invalid: readonly [what: string, bytes: string | Buffer][] = [
    ["a line that is not JSON", "GET / HTTP/1.1\r\nHost: voxledger\r\n\r\n"],
    ["a line that is not an object", "[]\n"],
    ["an event without a type", '{"data_length":2}\n{}'],
    ["a negative length", '{"type":"ping","data_length":-1}\n'],
    ["a length that is not a number", '{"type":"ping","payload_length":"9"}\n'],
    ["invalid UTF-8", Buffer.from([0x22, 0xff, 0x22, 0x0a])],
    ["data that is not an object", '{"type":"ping","data_length":4}\nnull'],
    ["a text that is not a string", eventBytes("synthesize", { text: 7 })],
    ["a text with half a surrogate pair", '{"type":"synthesize","data":{"text":"\\ud800"}}\n'],
    ["an invalid language", eventBytes("synthesize", { text: "a", voice: { language: "../etc" } })],
    ["a blank text", eventBytes("synthesize", { text: " \n" })],
    ["too long a text", eventBytes("synthesize", { text: "a".repeat(1_001) })],
    ["a chunk outside of a stream", eventBytes("synthesize-chunk", { text: "a" })],
    ["an end outside of a stream", eventBytes("synthesize-stop")],
    ["a header without an end", "x".repeat(40_000)],
    ["data that is too long", '{"type":"ping","data_length":40000}\n'],
    ["a payload that is too long", '{"type":"audio-chunk","payload_length":1048577}\n'],
  ];
  for (const [what, bytes] of invalid) {
    it(`and ends the connection with an error for ${what}`, async () => {
      await serve();
      client.write(bytes);
      await expectError(client, "VALIDATION_ERROR", /./);
      expect(served.streaming.begun).to.equal(0);
    });
  }
});
