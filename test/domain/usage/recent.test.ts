import { expect } from "chai";
import fc from "fast-check";
import {
  emptyRecent,
  lookUp,
  type Recent,
  remember as rememberAt,
} from "../../../src/domain/usage/recent.ts";

const grace = 1_000;
const remember = (recent: Recent<true>, key: string, at: number, keptMs: number): Recent<true> =>
  rememberAt(recent, { key, at, value: true }, { max: 4_096, keptMs });
const countedSince = (recent: Recent<true>, key: string, since: number): boolean =>
  lookUp(recent, key, since) === true;

describe("the map of recently counted objects", () => {
  it("returns the same results as a plain map of the last times", () => {
    const steps = fc.array(fc.record({ hash: fc.constantFrom("a", "b", "c", "d"), wait: fc.nat(400) }), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(steps, (all) => {
        let now = 0;
        let recent: Recent<true> = emptyRecent;
        const last = new Map<string, number>();
        for (const { hash, wait } of all) {
          now += wait;
          recent = remember(recent, hash, now, grace);
          last.set(hash, now);
        }
        for (const hash of ["a", "b", "c", "d", "e"]) {
          const expected = (last.get(hash) ?? Number.NEGATIVE_INFINITY) >= now - grace;
          expect(countedSince(recent, hash, now - grace)).to.equal(expected);
        }
      }),
    );
  });

  it("is bounded and never drops the newest entries", () => {
    let recent: Recent<true> = emptyRecent;
    for (let i = 0; i < 50_000; i++) recent = remember(recent, `h${i}`, i, 1e9);
    expect(recent.length).to.be.below(10_000);
    expect(countedSince(recent, "h49999", 0)).to.equal(true);
    expect(countedSince(recent, "h46000", 0)).to.equal(true);
  });

  it("keeps few entries beyond the recent ones", () => {
    let recent: Recent<true> = emptyRecent;
    for (let i = 0; i < 3_000; i++) recent = remember(recent, `burst${i}`, i / 100, grace);
    for (let i = 0; i < 6_000; i++) recent = remember(recent, `calm${i}`, 10_000 + i * 100, grace);
    expect(recent.length).to.be.below(100);
    expect(countedSince(recent, "calm5999", 0)).to.equal(true);
  });

  it("does not change earlier versions of itself", () => {
    const before = remember(emptyRecent, "a", 1, grace);
    remember(before, "b", 2, grace);
    expect(countedSince(before, "b", 0)).to.equal(false);
    expect(before.length).to.equal(1);
  });

  it("returns the last value set for an entry", () => {
    const memory = { max: 10, keptMs: grace };
    let recent: Recent<string> = emptyRecent;
    for (const value of ["first", "second"]) {
      recent = rememberAt(recent, { key: "a", at: 1, value }, memory);
      recent = rememberAt(recent, { key: "b", at: 1, value: "other" }, memory);
    }
    expect(lookUp(recent, "a", 0)).to.equal("second");
    expect(lookUp(recent, "c", 0)).to.equal(undefined);
  });
});
