import { randomBytes, randomUUID } from "node:crypto";
import { expect } from "chai";
import { EngineFailed, Unpronounceable } from "../../../src/domain/errors.ts";
import { type Frame, openWebSocketClient, type WebSocketClient } from "../../support/websocket-client.ts";
import { type Registered, startSocketServer, type TestSocketServer } from "./test-server.ts";

const request = { voice: "en-US-Neural2-C", text: "The train to Oxford leaves at nine." };

describe("the streaming socket", () => {
  let served: TestSocketServer;
  let website: Registered;
  let client: WebSocketClient;

  before(async () => {
    served = await startSocketServer();
  });
  after(() => served.close());
  beforeEach(async () => {
    website = await served.register();
    client = await openWebSocketClient(served.url, { headers: website.headers });
  });
  afterEach(() => client.close());

  const synthesize = (id: string = randomUUID(), more: object = {}) => {
    client.send({ type: "synthesize", id, request: { ...request, ...more } });
    return id;
  };
  /** A synthesis whose stream has started. */
  const started = async (id: string = randomUUID()) => {
    synthesize(id);
    const performance = await served.streaming.next();
    performance.start();
    await client.expect("stream_start");
    return { id, performance };
  };

  describe("speaks", () => {
    it("as a start, numbered frames of audio under the synthesis' id, and an end that counts them", async () => {
      const id = synthesize();
      const performance = await served.streaming.next();
      performance.start();
      expect(await client.next()).to.deep.equal({
        type: "stream_start",
        id,
        contentType: "audio/mpeg",
        prosodyApplied: ["pitch", "rate"],
      });
      const chunks = [randomBytes(1_000), randomBytes(10)];
      for (const [index, audio] of chunks.entries()) {
        await performance.push(audio);
        expect(await client.next()).to.deep.equal({ type: "frame", kind: 1, id, index, audio });
      }
      performance.end();
      expect(await client.next()).to.deep.equal({
        type: "stream_end",
        id,
        totalBytes: 1_010,
        totalChunks: 2,
      });
    });

    it("each chunk as soon as it is there, not waiting for the next", async () => {
      const { performance } = await started();
      await performance.push(Buffer.from("first"));
      expect((await client.expect("frame")).audio.toString()).to.equal("first");
      performance.end();
      await client.expect("stream_end");
    });

    it("chunks of any size in frames of at most 64 KiB, and nothing for an empty one", async () => {
      const { performance } = await started();
      const whole = randomBytes(200_000);
      void performance.push(Buffer.alloc(0));
      void performance.push(whole);
      performance.end();
      const frames: Frame[] = [];
      while (frames.length < 4) frames.push(await client.expect("frame"));
      expect(frames.map(({ index }) => index)).to.deep.equal([0, 1, 2, 3]);
      for (const { audio } of frames) expect(audio.length + 41).to.be.at.most(65_536);
      expect(Buffer.concat(frames.map(({ audio }) => audio)).equals(whole)).to.equal(true);
      expect(await client.expect("stream_end")).to.include({ totalBytes: 200_000, totalChunks: 4 });
    });

    it("for the caller, under a request id of its own", async () => {
      const [one, two] = [await started(), await started()];
      const [first, second] = [one.performance.order, two.performance.order];
      expect(first.principal).to.include({ apiKey: website.apiKey, websiteId: website.websiteId });
      expect(first.requestId)
        .to.match(/^[0-9a-f-]{36}$/)
        .and.not.equal(second.requestId)
        .and.not.equal(one.id);
    });

    it("the flat form of the voices' links, too, naming it when it has no name", async () => {
      client.send({ type: "synthesize", lang: "en-US", ...request });
      const performance = await served.streaming.next();
      performance.start();
      const { id } = await client.expect("stream_start");
      expect(id).to.match(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      await performance.push(Buffer.from("x"));
      expect((await client.expect("frame")).id).to.equal(id);

      const own = randomUUID().toUpperCase();
      client.send({ type: "synthesize", id: own, ...request });
      (await served.streaming.next()).start();
      expect((await client.expect("stream_start")).id).to.equal(own);
    });

    it("many at once on one socket, each in its own order", async () => {
      const speeches = [await started(), await started(), await started()];
      for (let round = 0; round < 3; round++) {
        for (const [at, { id, performance }] of speeches.entries()) {
          await performance.push(Buffer.from(`${at} ${round}`));
          const frame = await client.expect("frame");
          expect(frame).to.include({ id, index: round });
          expect(frame.audio.toString()).to.equal(`${at} ${round}`);
        }
      }
      for (const { id, performance } of speeches.reverse()) {
        performance.end();
        expect(await client.expect("stream_end")).to.include({ id, totalChunks: 3 });
      }
    });

    it("silence (volume 0) as a stream without a frame, and asks nobody for it", async () => {
      const before = served.streaming.started;
      const id = synthesize(undefined, { volume: 0, format: "ogg" });
      expect(await client.next()).to.deep.equal({
        type: "stream_start",
        id,
        contentType: "audio/ogg",
        prosodyApplied: ["volume"],
      });
      expect(await client.next()).to.deep.equal({ type: "stream_end", id, totalBytes: 0, totalChunks: 0 });
      expect(served.streaming.started).to.equal(before);
    });

    it("text of the greatest length, each of its characters escaped", async () => {
      const escaped = "\\ud83d\\ude00".repeat(5_000);
      const id = randomUUID();
      client.webSocket.send(
        `{"type":"synthesize","id":"${id}","request":{"lang":"en-US","text":"${escaped}"}}`,
      );
      const performance = await served.streaming.next();
      expect(performance.plan.characters).to.equal(5_000);
      performance.start();
      await client.expect("stream_start");
    });
  });

  describe("tells what goes wrong, and stays open:", () => {
    afterEach(async () => {
      client.send({ type: "ping" });
      await client.expect("pong");
    });

    it("an upstream's failure before the first byte", async () => {
      const id = synthesize();
      const error = new EngineFailed("The voice is asleep.", { retryAfterSeconds: 7 });
      (await served.streaming.next()).refuse(error);
      expect(await client.next()).to.deep.equal({
        type: "error",
        id,
        message: "The voice is asleep.",
        retryable: true,
        retryAfterSeconds: 7,
      });
    });

    it("an upstream's failure midway: no end, so that a cut never looks whole", async () => {
      const { id, performance } = await started();
      await performance.push(Buffer.from("half"));
      await client.expect("frame");
      performance.fail(new EngineFailed("The line is dead."));
      expect(await client.next()).to.include({
        type: "error",
        id,
        message: "The line is dead.",
        retryable: true,
      });
    });

    it("text that no voice can pronounce, as POST does", async () => {
      const id = synthesize();
      (await served.streaming.next()).refuse(new Unpronounceable());
      const error = await client.expect("error");
      expect(error).to.include({ id, code: "VALIDATION_ERROR", retryable: false });
      expect(error.errors?.map(({ path }) => path)).to.deep.equal([["text"]]);
    });

    it("an engine that does not stream", async () => {
      for (const volume of [1, 0]) {
        const id = synthesize(undefined, { engine: "g1", volume });
        expect(await client.next()).to.include({ type: "error", id, code: "NOT_FOUND", retryable: false });
      }
    });

    it("a fault of the service, of which nothing is told, and everything logged", async () => {
      const id = synthesize();
      (await served.streaming.next()).refuse(new TypeError("/etc/secret is undefined"));
      expect(await client.next()).to.deep.equal({
        type: "error",
        id,
        message: "Something went wrong on our side.",
        retryable: false,
        code: "INTERNAL_ERROR",
      });
      expect(served.log.join("")).to.include("/etc/secret is undefined");
    });

    it("a request that the schema refuses, as POST does", async () => {
      const id = synthesize(undefined, { text: "", pitch: 3 });
      const error = await client.expect("error");
      expect(error).to.include({ id, code: "VALIDATION_ERROR", retryable: false });
      expect(error.errors?.map(({ path }) => path)).to.deep.equal([["text"], ["pitch"]]);
    });

    it("a request that is none", async () => {
      for (const wrong of [null, 1, "text", []]) {
        const id = randomUUID();
        client.send({ type: "synthesize", id, request: wrong });
        expect(await client.next()).to.include({ type: "error", id, code: "VALIDATION_ERROR" });
      }
    });

    it("an id that is no UUID, which is not repeated", async () => {
      for (const id of ["<script>", 7, null, "", "x".repeat(36), undefined, {}]) {
        client.send({ type: "synthesize", id, request });
        const error = await client.expect("error");
        expect(error).to.include({ code: "VALIDATION_ERROR", retryable: false }).and.not.have.property("id");
        expect(error.errors).to.deep.equal([{ path: ["id"], message: "id must be a UUID." }]);
      }
    });

    it("a message that is none", async () => {
      const wrong = ["", "hello", "{", "[]", "null", '"ping"', "{}", '{"type":"pong"}', '{"type":1}'];
      for (const text of [...wrong, Buffer.from('{"type":"ping"}')]) {
        client.webSocket.send(text);
        const error = await client.expect("error");
        expect(error).to.include({ code: "VALIDATION_ERROR", retryable: false }).and.not.have.property("id");
      }
    });

    it("an id that is in use, without a word under it that would end the one in flight", async () => {
      const { id, performance } = await started();
      synthesize(id);
      expect(await client.expect("error"))
        .to.include({ code: "CONFLICT" })
        .and.not.have.property("id");
      performance.end();
      expect(await client.expect("stream_end")).to.include({ id });
      const again = await started(id);
      again.performance.end();
      await client.expect("stream_end");
    });

    it("more at once than one socket has room for, until one has ended", async () => {
      const speeches = [];
      for (let i = 0; i < 8; i++) speeches.push(await started());
      const id = synthesize();
      expect(await client.next()).to.include({
        type: "error",
        id,
        code: "TOO_MANY_STREAMS",
        retryable: true,
      });
      speeches[0]?.performance.end();
      await client.expect("stream_end");
      await started();
    });
  });

  describe("cancels", () => {
    it("a stream midway: its upstream is let go, and no frame of it follows", async () => {
      const { id, performance } = await started();
      await performance.push(Buffer.from("half"));
      await client.expect("frame");
      client.send({ type: "cancel", id });
      expect(await client.next()).to.include({ type: "error", id, code: "CANCELLED", retryable: false });
      await performance.closed;
      expect(performance.signal.aborted).to.equal(true);
    });

    it("what has not begun to speak", async () => {
      const id = synthesize();
      const performance = await served.streaming.next();
      client.send({ type: "cancel", id });
      expect(await client.next()).to.include({ type: "error", id, code: "CANCELLED" });
      expect(performance.signal.aborted).to.equal(true);
    });

    it("one, and not the others", async () => {
      const [one, other] = [await started(), await started()];
      client.send({ type: "cancel", id: one.id });
      expect(await client.expect("error")).to.include({ id: one.id });
      await other.performance.push(Buffer.from("still here"));
      expect(await client.expect("frame")).to.include({ id: other.id });
    });

    it("nothing that is over or never was, without a word: it may have ended meanwhile", async () => {
      client.send({ type: "cancel", id: randomUUID() });
      client.send({ type: "ping" });
      await client.expect("pong");
    });
  });

  it("ends what it speaks when the client leaves", async () => {
    const { performance } = await started();
    const waiting = await (async () => {
      synthesize();
      return await served.streaming.next();
    })();
    client.webSocket.terminate();
    await performance.closed;
    expect(performance.signal.aborted).to.equal(true);
    await new Promise((resolve) => {
      if (waiting.signal.aborted) resolve(undefined);
      waiting.signal.addEventListener("abort", resolve);
    });
  });

  it("logs a line for each synthesis, and never a text", async () => {
    const { id, performance } = await started();
    await performance.push(Buffer.from("12345"));
    performance.end();
    await client.expect("frame");
    await client.expect("stream_end");
    const line = served.log.map((text) => JSON.parse(text)).find(({ stream }) => stream === id);
    expect(line).to.include({
      requestId: performance.order.requestId,
      apiKey: website.apiKey,
      outcome: "whole",
      bytes: 5,
      chunks: 1,
    });
    expect(served.log.join("")).to.not.include("Oxford");
  });
});
