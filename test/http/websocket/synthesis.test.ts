import { randomBytes, randomUUID } from "node:crypto";
import { expect } from "chai";
import { EngineFailed, KeyOverloaded, Unpronounceable } from "../../../src/domain/errors.ts";
import { duringSuite } from "../../support/during.ts";
import { type Frame, openWebSocketClient, type WebSocketClient } from "../../support/websocket-client.ts";
import { type Registered, startSocketServer } from "./test-server.ts";

const request = { voice: "en-US-Neural2-C", text: "The train to Oxford leaves at nine." };

describe("the streaming socket", () => {
  const served = duringSuite(startSocketServer);
  let website: Registered;
  let client: WebSocketClient;

  beforeEach(async () => {
    website = await served.register();
    client = await openWebSocketClient(served.url, { headers: website.headers });
  });
  afterEach(() => client.close());

  const synthesize = (id: string = randomUUID(), more: object = {}) => {
    client.send({ type: "synthesize", id, request: { ...request, ...more } });
    return id;
  };
  /** Starts a synthesis and reads its `stream_start`. */
  const started = async (id: string = randomUUID()) => {
    synthesize(id);
    const synthesis = await served.streaming.next();
    synthesis.start();
    await client.expect("stream_start");
    return { id, synthesis };
  };

  describe("sends", () => {
    it("stream_start, numbered frames with the synthesis' id, and stream_end with their totals", async () => {
      const id = synthesize();
      const synthesis = await served.streaming.next();
      synthesis.start();
      expect(await client.next()).to.deep.equal({
        type: "stream_start",
        id,
        contentType: "audio/mpeg",
        prosodyApplied: ["pitch", "rate"],
      });
      const chunks = [randomBytes(1_000), randomBytes(10)];
      for (const [index, audio] of chunks.entries()) {
        await synthesis.push(audio);
        expect(await client.next()).to.deep.equal({ type: "frame", kind: 1, id, index, audio });
      }
      synthesis.end();
      expect(await client.next()).to.deep.equal({
        type: "stream_end",
        id,
        totalBytes: 1_010,
        totalChunks: 2,
      });
    });

    it("each chunk at once, without waiting for the next one", async () => {
      const { synthesis } = await started();
      await synthesis.push(Buffer.from("first"));
      expect((await client.expect("frame")).audio.toString()).to.equal("first");
      synthesis.end();
      await client.expect("stream_end");
    });

    it("chunks in frames of at most 64 KiB, and no frame for an empty chunk", async () => {
      const { synthesis } = await started();
      const whole = randomBytes(200_000);
      void synthesis.push(Buffer.alloc(0));
      void synthesis.push(whole);
      synthesis.end();
      const frames: Frame[] = [];
      while (frames.length < 4) frames.push(await client.expect("frame"));
      expect(frames.map(({ index }) => index)).to.deep.equal([0, 1, 2, 3]);
      for (const { audio } of frames) expect(audio.length + 41).to.be.at.most(65_536);
      expect(Buffer.concat(frames.map(({ audio }) => audio)).equals(whole)).to.equal(true);
      expect(await client.expect("stream_end")).to.include({ totalBytes: 200_000, totalChunks: 4 });
    });

    it("syntheses that belong to the caller, each with its own request id", async () => {
      const [one, two] = [await started(), await started()];
      const [first, second] = [one.synthesis.context, two.synthesis.context];
      expect(first.principal).to.include({ apiKey: website.apiKey, websiteId: website.websiteId });
      expect(first.requestId)
        .to.match(/^[0-9a-f-]{36}$/)
        .and.not.equal(second.requestId)
        .and.not.equal(one.id);
    });

    it("the synthesis of a flat message, and generates an id if it has none", async () => {
      client.send({ type: "synthesize", lang: "en-US", ...request });
      const synthesis = await served.streaming.next();
      synthesis.start();
      const { id } = await client.expect("stream_start");
      expect(id).to.match(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      await synthesis.push(Buffer.from("x"));
      expect((await client.expect("frame")).id).to.equal(id);

      const own = randomUUID().toUpperCase();
      client.send({ type: "synthesize", id: own, ...request });
      (await served.streaming.next()).start();
      expect((await client.expect("stream_start")).id).to.equal(own);
    });

    it("several syntheses at once, each in its own order", async () => {
      const syntheses = [await started(), await started(), await started()];
      for (let round = 0; round < 3; round++) {
        for (const [at, { id, synthesis }] of syntheses.entries()) {
          await synthesis.push(Buffer.from(`${at} ${round}`));
          const frame = await client.expect("frame");
          expect(frame).to.include({ id, index: round });
          expect(frame.audio.toString()).to.equal(`${at} ${round}`);
        }
      }
      for (const { id, synthesis } of syntheses.reverse()) {
        synthesis.end();
        expect(await client.expect("stream_end")).to.include({ id, totalChunks: 3 });
      }
    });

    it("a stream without frames for volume 0, without calling an engine", async () => {
      const before = served.streaming.begun;
      const id = synthesize(undefined, { volume: 0, format: "ogg" });
      expect(await client.next()).to.deep.equal({
        type: "stream_start",
        id,
        contentType: "audio/ogg",
        prosodyApplied: ["volume"],
      });
      expect(await client.next()).to.deep.equal({ type: "stream_end", id, totalBytes: 0, totalChunks: 0 });
      expect(served.streaming.begun).to.equal(before);
    });

    it("the synthesis of the longest text with each character escaped", async () => {
      const escaped = "\\ud83d\\ude00".repeat(5_000);
      const id = randomUUID();
      client.webSocket.send(
        `{"type":"synthesize","id":"${id}","request":{"lang":"en-US","text":"${escaped}"}}`,
      );
      const synthesis = await served.streaming.next();
      expect(synthesis.plan.characters).to.equal(5_000);
      synthesis.start();
      await client.expect("stream_start");
    });
  });

  describe("sends an error and stays open after", () => {
    afterEach(async () => {
      client.send({ type: "ping" });
      await client.expect("pong");
    });

    it("a provider error before the first byte", async () => {
      const id = synthesize();
      const error = new EngineFailed("The provider is overloaded.", { retryAfterSeconds: 7 });
      (await served.streaming.next()).refuse(error);
      expect(await client.next()).to.deep.equal({
        type: "error",
        id,
        message: "The provider is overloaded.",
        retryable: true,
        retryAfterSeconds: 7,
      });
    });

    it("a key that overloads the tools, with the delay before a retry; the log has the reason", async () => {
      const id = synthesize();
      (await served.streaming.next()).refuse(new KeyOverloaded("Too many texts are waiting.", 2));
      expect(await client.next()).to.deep.equal({
        type: "error",
        id,
        message: "Too many texts are waiting.",
        retryable: true,
        code: "KEY_OVERLOADED",
        retryAfterSeconds: 2,
      });
      const logged = served.log.map((line) => JSON.parse(line)).filter(({ stream }) => stream === id);
      expect(logged).to.have.length(1);
      expect(logged[0]).to.include({ outcome: "KEY_OVERLOADED", reason: "Too many texts are waiting." });
    });

    it("a provider error after the first byte, without a stream_end", async () => {
      const { id, synthesis } = await started();
      await synthesis.push(Buffer.from("half"));
      await client.expect("frame");
      synthesis.fail(new EngineFailed("The connection was lost."));
      expect(await client.next()).to.include({
        type: "error",
        id,
        message: "The connection was lost.",
        retryable: true,
      });
    });

    it("a text that no voice can pronounce", async () => {
      const id = synthesize();
      (await served.streaming.next()).refuse(new Unpronounceable());
      const error = await client.expect("error");
      expect(error).to.include({ id, code: "VALIDATION_ERROR", retryable: false });
      expect(error.errors?.map(({ path }) => path)).to.deep.equal([["text"]]);
    });

    it("a request for an engine that does not stream", async () => {
      for (const volume of [1, 0]) {
        const id = synthesize(undefined, { engine: "g1", volume });
        expect(await client.next()).to.include({ type: "error", id, code: "NOT_FOUND", retryable: false });
      }
    });

    it("an internal error, which is logged and not exposed", async () => {
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

    it("a request with invalid members", async () => {
      const id = synthesize(undefined, { text: "", pitch: 3 });
      const error = await client.expect("error");
      expect(error).to.include({ id, code: "VALIDATION_ERROR", retryable: false });
      expect(error.errors?.map(({ path }) => path)).to.deep.equal([["text"], ["pitch"]]);
    });

    it("a request that is not an object", async () => {
      for (const wrong of [null, 1, "text", []]) {
        const id = randomUUID();
        client.send({ type: "synthesize", id, request: wrong });
        expect(await client.next()).to.include({ type: "error", id, code: "VALIDATION_ERROR" });
      }
    });

    it("an id that is not a UUID, without repeating it", async () => {
      for (const id of ["<script>", 7, null, "", "x".repeat(36), undefined, {}]) {
        client.send({ type: "synthesize", id, request });
        const error = await client.expect("error");
        expect(error).to.include({ code: "VALIDATION_ERROR", retryable: false }).and.not.have.property("id");
        expect(error.errors).to.deep.equal([{ path: ["id"], message: "id must be a UUID." }]);
      }
    });

    it("an invalid message", async () => {
      const wrong = ["", "hello", "{", "[]", "null", '"ping"', "{}", '{"type":"pong"}', '{"type":1}'];
      for (const text of [...wrong, Buffer.from('{"type":"ping"}')]) {
        client.webSocket.send(text);
        const error = await client.expect("error");
        expect(error).to.include({ code: "VALIDATION_ERROR", retryable: false }).and.not.have.property("id");
      }
    });

    it("an id that is in use, without naming the id of the synthesis in progress", async () => {
      const { id, synthesis } = await started();
      synthesize(id);
      expect(await client.expect("error"))
        .to.include({ code: "CONFLICT" })
        .and.not.have.property("id");
      synthesis.end();
      expect(await client.expect("stream_end")).to.include({ id });
      const again = await started(id);
      again.synthesis.end();
      await client.expect("stream_end");
    });

    it("too many syntheses at once, until one has ended", async () => {
      const syntheses = [];
      for (let i = 0; i < 8; i++) syntheses.push(await started());
      const id = synthesize();
      expect(await client.next()).to.include({
        type: "error",
        id,
        code: "TOO_MANY_STREAMS",
        retryable: true,
      });
      syntheses[0]?.synthesis.end();
      await client.expect("stream_end");
      await started();
    });
  });

  describe("cancels", () => {
    it("a running stream: aborts its upstream and sends no further frame", async () => {
      const { id, synthesis } = await started();
      await synthesis.push(Buffer.from("half"));
      await client.expect("frame");
      client.send({ type: "cancel", id });
      expect(await client.next()).to.include({ type: "error", id, code: "CANCELLED", retryable: false });
      await synthesis.closed;
      expect(synthesis.signal.aborted).to.equal(true);
    });

    it("a synthesis that has not started", async () => {
      const id = synthesize();
      const synthesis = await served.streaming.next();
      client.send({ type: "cancel", id });
      expect(await client.next()).to.include({ type: "error", id, code: "CANCELLED" });
      expect(synthesis.signal.aborted).to.equal(true);
    });

    it("one synthesis, and not the others", async () => {
      const [one, other] = [await started(), await started()];
      client.send({ type: "cancel", id: one.id });
      expect(await client.expect("error")).to.include({ id: one.id });
      await other.synthesis.push(Buffer.from("still here"));
      expect(await client.expect("frame")).to.include({ id: other.id });
    });

    it("without an error if the synthesis has ended or never existed", async () => {
      client.send({ type: "cancel", id: randomUUID() });
      client.send({ type: "ping" });
      await client.expect("pong");
    });
  });

  it("aborts all syntheses when the client disconnects", async () => {
    const { synthesis } = await started();
    const waiting = await (async () => {
      synthesize();
      return await served.streaming.next();
    })();
    client.webSocket.terminate();
    await synthesis.closed;
    expect(synthesis.signal.aborted).to.equal(true);
    await new Promise((resolve) => {
      if (waiting.signal.aborted) resolve(undefined);
      waiting.signal.addEventListener("abort", resolve);
    });
  });

  it("logs one line per synthesis, and never the text", async () => {
    const { id, synthesis } = await started();
    await synthesis.push(Buffer.from("12345"));
    synthesis.end();
    await client.expect("frame");
    await client.expect("stream_end");
    const line = served.log.map((text) => JSON.parse(text)).find(({ stream }) => stream === id);
    expect(line).to.include({
      requestId: synthesis.context.requestId,
      apiKey: website.apiKey,
      outcome: "whole",
      bytes: 5,
      chunks: 1,
    });
    expect(served.log.join("")).to.not.include("Oxford");
  });
});
