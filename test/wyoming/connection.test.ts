import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import type { ManualSynthesis } from "../http/websocket/manual-streaming.ts";
import { until } from "../support/manual-time.ts";
import { expectError, expectEvent, nextSynthesis, samples, speakNext } from "./expectations.ts";
import { eventBytes, type RawClient } from "./raw-client.ts";
import { startWyomingServer, type TestWyomingServer } from "./test-server.ts";

describe("a connection of the Wyoming protocol", () => {
  let served: TestWyomingServer;
  let client: RawClient;

  const serve = async (options: Parameters<typeof startWyomingServer>[0] = {}): Promise<void> => {
    served = await startWyomingServer(options);
    client = await served.connect();
  };
  afterEach(() => served.close());

  it("cancels the synthesis when the client disconnects", async () => {
    await serve();
    client.send("synthesize", { text: "Hello." });
    const synthesis = await nextSynthesis(served, "Hello.");
    await expectEvent(client, "audio-start");
    client.socket.destroy();
    await synthesis.closed;
    expect(synthesis.signal.aborted).to.equal(true);
    await until(() => served.server.connections() === 0);
  });

  it("cancels a synthesis that has not begun, and a stream that waits for text", async () => {
    await serve();
    client.send("synthesize", { text: "Hello." });
    const { signal } = await served.streaming.next();
    client.socket.end();
    if (!signal.aborted) await once(signal, "abort");
    client = await served.connect();
    client.send("synthesize-start");
    client.send("ping");
    await expectEvent(client, "pong");
    client.socket.destroy();
    await until(() => served.server.connections() === 0);
  });

  it("responds with what was sent before the client closed its side", async () => {
    await serve();
    client.socket.end(eventBytes("describe"));
    await expectEvent(client, "info");
    await client.closed;
  });

  describe("whose client does not read", () => {
    const unread = async (): Promise<ManualSynthesis> => {
      await serve();
      client.socket.pause();
      client.send("synthesize", { text: "Hello." });
      const synthesis = await nextSynthesis(served, "Hello.");
      // Far more than the kernel buffers on the loopback.
      for (let i = 0; i < 600; i++) void synthesis.push(Buffer.alloc(60_000));
      synthesis.end();
      let pulled = -1;
      while (synthesis.pulled !== pulled) {
        pulled = synthesis.pulled;
        for (let turn = 0; turn < 200; turn++) await setImmediate();
      }
      return synthesis;
    };

    it("stops reading the audio, and continues when it reads again", async () => {
      const synthesis = await unread();
      expect(synthesis.pulled).to.be.within(1, 599);
      client.socket.resume();
      let bytes = 0;
      for (let event = await client.next(); event?.type !== "audio-stop"; event = await client.next())
        bytes += event?.payload.length ?? 0;
      expect(bytes).to.equal(600 * 60_000);
    });

    it("is disconnected after a timeout, and its synthesis is cancelled", async () => {
      const synthesis = await unread();
      served.time.advance(120_000);
      await synthesis.closed;
      await until(() => served.server.connections() === 0);
    });
  });

  describe("that is idle", () => {
    it("is closed after a minute", async () => {
      await serve();
      client.send("ping");
      await expectEvent(client, "pong");
      served.time.advance(59_999);
      client.send("ping");
      await expectEvent(client, "pong");
      served.time.advance(60_000);
      expect(await client.next()).to.equal(undefined);
    });

    it("is closed a minute after its utterance", async () => {
      await serve();
      client.send("synthesize", { text: "Hello." });
      const synthesis = await nextSynthesis(served, "Hello.");
      await expectEvent(client, "audio-start");
      served.time.advance(200_000);
      synthesis.end();
      await expectEvent(client, "audio-stop");
      client.send("ping");
      await expectEvent(client, "pong");
      served.time.advance(59_999);
      await setImmediate();
      client.send("ping");
      await expectEvent(client, "pong");
      served.time.advance(60_000);
      expect(await client.next()).to.equal(undefined);
    });

    it("is closed after five minutes within a stream", async () => {
      await serve();
      client.send("synthesize-start");
      client.send("ping");
      await expectEvent(client, "pong");
      served.time.advance(299_999);
      client.send("ping");
      await expectEvent(client, "pong");
      served.time.advance(299_999);
      await setImmediate();
      client.send("ping");
      await expectEvent(client, "pong");
      served.time.advance(300_000);
      expect(await client.next()).to.equal(undefined);
    });

    it("is destroyed if the client does not close its side", async () => {
      await serve();
      client = await served.connect({ allowHalfOpen: true });
      client.write("garbage\n");
      expect((await client.next())?.type).to.equal("error");
      const { connections } = served.server;
      await until(() => connections() === 2);
      served.time.advance(4_999);
      await setImmediate();
      expect(connections()).to.equal(2);
      served.time.advance(1);
      await until(() => connections() === 1);
    });
  });

  describe("speaks for a key", () => {
    it("that is checked before each sentence", async () => {
      await serve();
      client.send("synthesize-start");
      client.send("synthesize-chunk", { text: "One. Two" });
      await speakNext(served, "One. ");
      await expectEvent(client, "audio-start");
      await expectEvent(client, "audio-chunk");
      const { core, website } = served;
      await core.keys.suspend(website.apiKey, "invoice overdue", { actor: "admin" });
      client.send("synthesize-stop");
      await expectError(client, "KEY_SUSPENDED", /invoice overdue/);
    });

    it("that may describe its voices while it is suspended", async () => {
      await serve();
      const { core, website } = served;
      await core.keys.suspend(website.apiKey, "invoice overdue", { actor: "admin" });
      client.send("describe");
      await expectEvent(client, "info");
      client.send("synthesize", { text: "Hello." });
      await expectError(client, "KEY_SUSPENDED", /invoice overdue/);
    });

    it("whose requests are limited; a stream is one request", async () => {
      await serve({ plan: { requestsPerMinute: 2 } });
      client.send("synthesize-start");
      client.send("synthesize-chunk", { text: "One. Two of them. Three of them all." });
      client.send("synthesize-stop");
      for (const text of ["One. ", "Two of them. ", "Three of them all."]) await speakNext(served, text);
      client.send("describe");
      client.send("synthesize", { text: "Hello." });
      let event = await client.next();
      while (event?.type !== "info") event = await client.next();
      await expectError(client, "RATE_LIMIT_EXCEEDED", /no requests left/);
    });

    it("whose withdrawn secret blocks no client's address", async () => {
      await serve();
      const { core, website, authenticator } = served;
      const { apiSecret } = await core.keys.createSecret(website.apiKey, { actor: "admin" });
      await core.keys.revokeSecret(website.apiKey, website.secretId, { actor: "admin" });
      for (let attempt = 0; attempt < 35; attempt++) {
        client = await served.connect();
        client.send("describe");
        expect((await client.next())?.type).to.equal("error");
      }
      const { apiKey } = website;
      const caller = authenticator.authenticate({ by: "secret", apiKey, apiSecret }, "127.0.0.1");
      expect(caller).to.include({ apiKey });
    });
  });

  describe("that sends thousands of small events", () => {
    const chunks = (count: number): Buffer =>
      Buffer.concat(Array<Buffer>(count).fill(eventBytes("synthesize-chunk", { text: "" })));

    it("ends with an error if it sends more than the longest text has characters, and a thousand", async () => {
      await serve();
      client.send("synthesize-start");
      client.write(chunks(1_999));
      client.send("ping");
      await expectEvent(client, "pong");
      client.send("synthesize-chunk", { text: "" });
      await expectError(client, "RATE_LIMIT_EXCEEDED", /More than 2000 events/);
    });

    it("may send as many again with the next request, and in the next minute", async () => {
      await serve();
      for (let request = 0; request < 3; request++) {
        client.send("synthesize-start");
        client.write(chunks(1_500));
        client.send("synthesize-chunk", { text: "One." });
        client.send("synthesize-stop");
        (await nextSynthesis(served, "One.")).end();
      }
      client.send("synthesize-start");
      for (let minute = 0; minute < 3; minute++) {
        client.write(chunks(1_900));
        client.send("ping");
        for (let event = await client.next(); event?.type !== "pong"; event = await client.next())
          expect(event?.type).not.to.equal("error");
        served.time.advance(60_000);
      }
    });

    it("lets other tasks run between its events", async () => {
      await serve();
      client.send("synthesize-start");
      client.write(chunks(1_900));
      client.send("ping");
      let turns = 0;
      let isOver = false;
      const response = expectEvent(client, "pong").finally(() => {
        isOver = true;
      });
      while (!isOver) {
        await setImmediate();
        turns++;
      }
      await response;
      expect(turns).to.be.above(10);
    });
  });

  describe("at shutdown", () => {
    it("is closed at once if nothing is spoken", async () => {
      await serve();
      client.send("ping");
      await expectEvent(client, "pong");
      await served.server.drain(60_000);
      expect(await client.next()).to.equal(undefined);
    });

    it("finishes its utterance, and no further connection is accepted", async () => {
      await serve();
      client.send("synthesize", { text: "Hello." });
      client.send("synthesize", { text: "Again." });
      const synthesis = await nextSynthesis(served, "Hello.");
      const drained = served.server.drain(60_000);
      const refused = await served.connect().catch((error: NodeJS.ErrnoException) => error.code);
      expect(refused).to.equal("ECONNREFUSED");
      void synthesis.push(samples);
      synthesis.end();
      for (const type of ["audio-start", "audio-chunk", "audio-stop"]) await expectEvent(client, type);
      const last = await client.next();
      if (last) expect(last.data).to.include({ code: "UNAVAILABLE" });
      await drained;
      expect(served.streaming.begun).to.equal(1);
    });

    it("ends its utterance with an error after the timeout", async () => {
      await serve();
      client.send("synthesize-start");
      client.send("synthesize-chunk", { text: "One. Two" });
      const synthesis = await nextSynthesis(served, "One. ");
      await expectEvent(client, "audio-start");
      const drained = served.server.drain(1_000);
      served.time.advance(1_000);
      await expectError(client, "UNAVAILABLE", /shutting down/);
      await synthesis.closed;
      await drained;
    });
  });

  it("replaces the one that has been idle for the longest time, beyond the maximum of connections", async () => {
    await serve({ limits: { connections: 2 } });
    const idle = client;
    idle.send("ping");
    await expectEvent(idle, "pong");
    served.time.advance(1_000);
    const used = await served.connect();
    used.send("ping");
    await expectEvent(used, "pong");
    const further = await served.connect();
    further.send("ping");
    await expectEvent(further, "pong");
    expect(await idle.next()).to.equal(undefined);
    used.send("ping");
    await expectEvent(used, "pong");
  });

  it("is refused beyond the maximum of connections if each one has an utterance", async () => {
    await serve({ limits: { connections: 2 } });
    client.send("synthesize", { text: "Hello." });
    const synthesis = await nextSynthesis(served, "Hello.");
    await expectEvent(client, "audio-start");
    const streaming = await served.connect();
    streaming.send("synthesize-start");
    streaming.send("ping");
    await expectEvent(streaming, "pong");
    const further = await served.connect();
    expect(await further.next()).to.equal(undefined);
    synthesis.end();
    await expectEvent(client, "audio-stop");
    const replacing = await served.connect();
    replacing.send("ping");
    await expectEvent(replacing, "pong");
    expect(await client.next()).to.equal(undefined);
  });
});
