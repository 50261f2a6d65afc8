import { expect } from "chai";
import fc from "fast-check";
import { createBurstLimiter } from "../../src/limits/burst-limiter.ts";

describe("the burst check", () => {
  const time = { now: 0 };
  const limiter = () => createBurstLimiter(1_000, { now: () => time.now });
  beforeEach(() => {
    time.now = 5_049;
  });

  it("admits a burst up to the limit", () => {
    const burst = limiter();
    const taken = Array.from({ length: 25 }, () => burst.tryAcquire(burst.windowOf("k ip"), 20));
    expect(taken.filter(Boolean)).to.have.length(20);
  });

  it("admits requests again after the window", () => {
    const burst = limiter();
    for (let i = 0; i < 20; i++) burst.tryAcquire(burst.windowOf("k ip"), 20);
    time.now = 6_049;
    expect(burst.tryAcquire(burst.windowOf("k ip"), 20)).to.equal(false);
    time.now = 6_050;
    expect(burst.tryAcquire(burst.windowOf("k ip"), 20)).to.equal(true);
  });

  it("counts each key and client separately", () => {
    const burst = limiter();
    for (let i = 0; i < 20; i++) burst.tryAcquire(burst.windowOf("k ip"), 20);
    expect(burst.tryAcquire(burst.windowOf("k other"), 20)).to.equal(true);
  });

  it("keeps counts by slot only while requests of several slots are in the window", () => {
    const burst = limiter();
    const window = burst.windowOf("k ip");
    const hasCountsAfter = (ms: number): boolean => {
      time.now += ms;
      burst.tryAcquire(window, 20);
      return window.counts !== undefined;
    };
    expect([0, 0, 50, 1_050].map(hasCountsAfter)).to.deep.equal([false, false, true, false]);
  });

  it("never admits more than the limit within any window, and after a pause always", () => {
    const waits = fc.array(fc.nat(120), { maxLength: 200 });
    fc.assert(
      fc.property(waits, fc.integer({ min: 1, max: 10 }), (all, limit) => {
        const burst = limiter();
        const admitted: number[] = [];
        for (const wait of all) {
          time.now += wait;
          if (burst.tryAcquire(burst.windowOf("k ip"), limit)) admitted.push(time.now);
        }
        for (const [index, at] of admitted.entries()) {
          const nth = admitted[index + limit];
          if (nth !== undefined) expect(nth - at).to.be.above(1_000);
        }
        time.now += burst.recoveryMs;
        const afterwards = Array.from({ length: limit + 1 }, () =>
          burst.tryAcquire(burst.windowOf("k ip"), limit),
        );
        expect(afterwards.filter(Boolean)).to.have.length(limit);
      }),
    );
  });
});
