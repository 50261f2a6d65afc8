import { setImmediate as turn } from "node:timers/promises";
import { expect } from "chai";
import { type ChunkBuffer, createChunkBuffer } from "../../../src/client/api/chunk-buffer.ts";
import { rejection } from "../../support/rejection.ts";

const chunk = () => new Uint8Array(1_000);
const iteratorOf = ({ audio }: ChunkBuffer) => audio[Symbol.asyncIterator]();

describe("the chunk buffer", () => {
  it("pulls chunks until it is full, and more only after a chunk was read", async () => {
    let pulls = 0;
    const incoming = createChunkBuffer({
      maxBytes: 4_000,
      pull: async () => {
        pulls++;
        incoming.push(chunk());
      },
      onCancel: () => {},
    });
    await turn();
    expect(pulls).to.equal(4);
    await iteratorOf(incoming).next();
    await turn();
    expect(pulls).to.equal(5);
  });

  it("reports negative free bytes when chunks that cannot be held back exceed its limit", () => {
    const incoming = createChunkBuffer({ maxBytes: 1_500, onCancel: () => {} });
    incoming.push(chunk());
    expect(incoming.freeBytes()).to.equal(500);
    incoming.push(chunk());
    expect(incoming.freeBytes()).to.equal(-500);
  });

  it("resolves `received` at the end, even if no chunk was read", async () => {
    const incoming = createChunkBuffer({ maxBytes: 4_000, onCancel: () => {} });
    incoming.push(chunk());
    incoming.end();
    await incoming.received;
  });

  it("discards buffered chunks when the stream fails", async () => {
    const incoming = createChunkBuffer({ maxBytes: 4_000, onCancel: () => {} });
    incoming.push(chunk());
    incoming.fail(new Error("connection lost"));
    expect(await rejection(incoming.received)).to.include({ message: "connection lost" });
    expect(await rejection(iteratorOf(incoming).next())).to.include({ message: "connection lost" });
  });

  it("rejects with the error of its source", async () => {
    const incoming = createChunkBuffer({
      maxBytes: 4_000,
      pull: () => Promise.reject(new Error("connection lost")),
      onCancel: () => {},
    });
    expect(await rejection(iteratorOf(incoming).next())).to.include({ message: "connection lost" });
  });

  it("cancels its source when the reader stops early, and ignores later chunks", async () => {
    const cancelled = Promise.withResolvers<void>();
    const incoming = createChunkBuffer({ maxBytes: 4_000, onCancel: cancelled.resolve });
    incoming.push(chunk());
    for await (const _ of incoming.audio) break;
    await cancelled.promise;
    await incoming.received;
    expect(() => incoming.push(chunk())).not.to.throw();
    expect(incoming.freeBytes()).to.equal(0);
    expect(() => incoming.end()).not.to.throw();
    expect(() => incoming.fail(new Error("too late"))).not.to.throw();
  });
});
