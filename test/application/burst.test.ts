import { expect } from "chai";
import fc from "fast-check";
import { createBurstLimiter } from "../../src/application/burst.ts";

describe("the burst check", () => {
  it("admits the limit at once, and no more", () => {
    const burst = createBurstLimiter(1_000);
    const taken = Array.from({ length: 25 }, () => burst.take("k ip", 20, 5_000));
    expect(taken.filter(Boolean)).to.have.length(20);
  });

  it("admits again what was refused, a window later", () => {
    const burst = createBurstLimiter(1_000);
    for (let i = 0; i < 20; i++) burst.take("k ip", 20, 5_049);
    expect(burst.take("k ip", 20, 5_999)).to.equal(false);
    expect(burst.take("k ip", 20, 6_049)).to.equal(true);
  });

  it("counts each key and client by itself", () => {
    const burst = createBurstLimiter(1_000);
    for (let i = 0; i < 20; i++) burst.take("k ip", 20, 0);
    expect(burst.take("k other", 20, 0)).to.equal(true);
  });

  it("never admits more than the limit within any window", () => {
    const waits = fc.array(fc.nat(120), { maxLength: 200 });
    fc.assert(
      fc.property(waits, fc.integer({ min: 1, max: 10 }), (all, limit) => {
        const burst = createBurstLimiter(1_000);
        const admitted: number[] = [];
        let now = 1_000_000;
        for (const wait of all) {
          now += wait;
          if (burst.take("k ip", limit, now)) admitted.push(now);
        }
        for (const [index, at] of admitted.entries()) {
          const nth = admitted[index + limit];
          if (nth !== undefined) expect(nth - at).to.be.above(1_000 - 50);
        }
      }),
    );
  });
});
