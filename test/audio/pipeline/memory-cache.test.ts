import { expect } from "chai";
import { createMemoryCache } from "../../../src/audio/pipeline/memory-cache.ts";
import { nameOf, objectOf, soundOf } from "./sounds.ts";

const kilobyte = 1024;

describe("The memory cache", () => {
  it("returns an object that was added", () => {
    const cache = createMemoryCache();
    cache.set(nameOf(1), objectOf(soundOf(1)));
    expect(soundOf(1).equals(cache.get(nameOf(1))?.bytes as Buffer)).to.equal(true);
    expect(cache.get(nameOf(2))).to.equal(undefined);
  });

  it("never holds more bytes than its bound, and evicts the least recently used first", () => {
    const cache = createMemoryCache({ maxBytes: 100 * kilobyte, largestShare: 1 / 4 });
    for (let i = 0; i < 50; i++) {
      cache.set(nameOf(i), objectOf(soundOf(i, 10 * kilobyte)));
      cache.get(nameOf(0));
      expect(cache.stats().bytes).to.be.at.most(100 * kilobyte);
    }
    expect(cache.get(nameOf(0))).to.not.equal(undefined);
    expect(cache.get(nameOf(1))).to.equal(undefined);
    expect(cache.get(nameOf(49))).to.not.equal(undefined);
  });

  it("does not store an object larger than its share of the bound", () => {
    const cache = createMemoryCache({ maxBytes: 100 * kilobyte, largestShare: 1 / 4 });
    cache.set(nameOf(1), objectOf(soundOf(1, 10 * kilobyte)));
    cache.set(nameOf(2), objectOf(soundOf(2, 30 * kilobyte)));
    expect(cache.get(nameOf(2))).to.equal(undefined);
    expect(cache.get(nameOf(1))).to.not.equal(undefined);
  });

  it("stores nothing when its bound is 0", () => {
    const cache = createMemoryCache({ maxBytes: 0 });
    cache.set(nameOf(1), objectOf(soundOf(1)));
    expect(cache.get(nameOf(1))).to.equal(undefined);
  });

  it("counts an overhead for small objects", () => {
    const cache = createMemoryCache({ maxBytes: 100 * kilobyte });
    for (let i = 0; i < 10_000; i++) cache.set(nameOf(i), objectOf(soundOf(i, 4)));
    expect(cache.stats().objects).to.be.at.most(200);
  });

  it("does not retain the buffer from which a slice was cut", () => {
    const cache = createMemoryCache();
    const large = Buffer.alloc(kilobyte * kilobyte, 1);
    cache.set(nameOf(1), objectOf(large.subarray(0, 100)));
    expect(cache.get(nameOf(1))?.bytes.buffer.byteLength).to.equal(100);
  });
});
