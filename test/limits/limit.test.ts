import { expect } from "chai";
import fc from "fast-check";
import { createConcurrencyLimit, createRateLimit, refusing } from "../../src/limits/limit.ts";

describe("a limit", () => {
  it("of concurrency admits as many per key as are not released", () => {
    const steps = fc.array(fc.record({ key: fc.constantFrom("a", "b"), releases: fc.boolean() }));
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 3 }), (given, atMost) => {
        const limit = createConcurrencyLimit(atMost);
        const held: Record<string, (() => void)[]> = { a: [], b: [] };
        for (const { key, releases } of given) {
          const own = held[key] ?? [];
          if (releases) own.shift()?.();
          else {
            const release = limit.tryAcquire(key);
            expect(release !== undefined).to.equal(own.length < atMost);
            if (release) own.push(release);
          }
        }
      }),
    );
  });

  it("of concurrency counts a repeated release once", () => {
    const limit = createConcurrencyLimit(2);
    const release = limit.tryAcquire("k");
    limit.tryAcquire("k");
    release?.();
    release?.();
    expect(limit.tryAcquire("k")).to.be.a("function");
    expect(limit.tryAcquire("k")).to.equal(undefined);
  });

  it("of a rate admits so many per key and window, whatever is released", () => {
    const time = { now: 59_000 };
    const limit = createRateLimit({ atMost: 2, windowMs: 60_000 }, () => time.now);
    const admitted = (key: string): boolean => {
      const release = limit.tryAcquire(key);
      release?.();
      return release !== undefined;
    };
    expect([admitted("k"), admitted("k"), admitted("k")]).to.deep.equal([true, true, false]);
    expect(admitted("other")).to.equal(true);
    time.now = 60_000;
    expect([admitted("k"), admitted("k"), admitted("k")]).to.deep.equal([true, true, false]);
  });

  it("of a rate forgets the least recently seen of 50,000 keys", () => {
    const limit = createRateLimit({ atMost: 1, windowMs: 60_000 }, () => 0);
    for (let key = 0; key <= 50_000; key++) limit.tryAcquire(String(key));
    expect(limit.tryAcquire("50000")).to.equal(undefined);
    expect(limit.tryAcquire("0")).to.be.a("function");
  });

  it("with a refusal throws it instead", () => {
    const limit = refusing(createConcurrencyLimit(1), () => new Error("too many"));
    const release = limit.acquire("k");
    expect(() => limit.acquire("k")).to.throw("too many");
    release();
    limit.acquire("k");
  });
});
