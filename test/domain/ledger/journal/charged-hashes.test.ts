import { expect } from "chai";
import fc from "fast-check";
import { ChargedHashes } from "../../../../src/domain/ledger/journal/charged-hashes.ts";

const windowMs = 600_000;
/** Numbers of keys. */
const [a, b] = [0, 1];

describe("the recently charged hashes", () => {
  it("are those of the window, by key and hash", () => {
    const actions = fc.record({
      keyNumber: fc.constantFrom(a, b),
      hash: fc.constantFrom("x", "y", "z"),
      afterMs: fc.nat(windowMs / 2),
    });
    fc.assert(
      fc.property(fc.array(actions, { maxLength: 60 }), (charges) => {
        const hashes = new ChargedHashes(windowMs);
        const last = new Map<string, number>();
        let now = 1_700_000_000_000;
        for (const { keyNumber, hash, afterMs } of charges) {
          now += afterMs;
          for (const key of [a, b]) {
            for (const one of ["x", "y", "z"]) {
              const at = last.get(`${key} ${one}`);
              const expected = at !== undefined && at >= now - windowMs;
              expect(hashes.has(key, one, now)).to.equal(expected);
            }
          }
          hashes.add(keyNumber, hash, now);
          last.set(`${keyNumber} ${hash}`, now);
        }
      }),
    );
  });

  it("keep the last charge when an earlier one arrives later", () => {
    const hashes = new ChargedHashes(windowMs);
    hashes.add(a, "x", windowMs);
    hashes.add(a, "x", 0);
    expect(hashes.has(a, "x", windowMs + 1)).to.equal(true);
  });

  it("forget a voided charge unless a later one followed", () => {
    const hashes = new ChargedHashes(windowMs);
    hashes.add(a, "x", 1);
    hashes.add(a, "y", 1);
    hashes.add(a, "y", 2);
    hashes.delete(a, "x", 1);
    hashes.delete(a, "y", 1);
    hashes.delete(b, "z", 1);
    expect(hashes.has(a, "x", 3)).to.equal(false);
    expect(hashes.has(a, "y", 3)).to.equal(true);
  });

  it("stay charged while one of several charges, at the same or an earlier time, is not voided", () => {
    const hashes = new ChargedHashes(windowMs);
    for (const at of [1, 2, 2]) hashes.add(a, "x", at);
    hashes.delete(a, "x", 2);
    expect(hashes.has(a, "x", windowMs + 2)).to.equal(true);
    hashes.delete(a, "x", 2);
    expect(hashes.has(a, "x", 3)).to.equal(true);
    hashes.delete(a, "x", 1);
    expect(hashes.has(a, "x", 3)).to.equal(false);
  });

  it("of one key cannot displace those of others, however many they are", () => {
    const hashes = new ChargedHashes(windowMs);
    hashes.add(a, "x", 0);
    for (let index = 0; index < 300_000; index++) hashes.add(b, `h-${index}`, 1);
    expect(hashes.has(a, "x", 2)).to.equal(true);
    expect(hashes.has(b, "h-299999", 2)).to.equal(true);
    expect(hashes.has(b, "h-0", 2)).to.equal(false);
  });

  it("of a key with very many can be voided like others", () => {
    const hashes = new ChargedHashes(windowMs);
    const start = 2 * windowMs;
    for (let index = 0; index < 5_000; index++) hashes.add(b, `h-${index}`, start + index);
    expect(hashes.has(b, "h-7", start + windowMs + 7)).to.equal(true);
    expect(hashes.has(b, "h-7", start + windowMs + 8)).to.equal(false);
    hashes.delete(b, "h-7", start + 7);
    expect(hashes.has(b, "h-7", start + 8)).to.equal(false);
    hashes.add(b, "h-8", start + 5_000);
    hashes.delete(b, "h-8", start + 5_000);
    expect(hashes.has(b, "h-8", start + 5_001)).to.equal(true);
  });

  it("of a key with very many can have earlier charges voided", () => {
    const hashes = new ChargedHashes(windowMs);
    const start = 2 * windowMs;
    hashes.add(b, "h-0", start + 1);
    hashes.add(b, "h-0", start + 2);
    for (let index = 0; index < 5_000; index++) hashes.add(b, `h-${index}`, start + 3);
    hashes.add(a, "x", start + 3);
    hashes.delete(b, "h-0", start + 3);
    expect(hashes.has(b, "h-0", start + windowMs + 2)).to.equal(true);
    hashes.delete(b, "h-0", start + 2);
    expect(hashes.has(b, "h-0", start + 4)).to.equal(false);
  });

  it("are charged as often as they were charged and not voided, in any order", () => {
    const start = 2 * windowMs;
    const [early, late] = [start - 2, start - 1];
    const action = fc.record({
      at: fc.constantFrom(early, late),
      voids: fc.boolean(),
      hash: fc.constantFrom("x", "y"),
    });
    fc.assert(
      fc.property(fc.array(action, { maxLength: 40, size: "max" }), (actions) => {
        const hashes = new ChargedHashes(windowMs);
        hashes.add(b, "first", start);
        const charges = new Map<string, number>();
        for (const { at, voids, hash } of actions) {
          const name = `${hash} ${at}`;
          const count = charges.get(name) ?? 0;
          if (voids) hashes.delete(a, hash, at);
          else hashes.add(a, hash, at);
          charges.set(name, voids ? Math.max(0, count - 1) : count + 1);
          for (const one of ["x", "y"]) {
            const [earlier = 0, later = 0] = [charges.get(`${one} ${early}`), charges.get(`${one} ${late}`)];
            expect(hashes.has(a, one, start)).to.equal(earlier + later > 0);
            expect(hashes.has(a, one, late + windowMs)).to.equal(later > 0);
          }
        }
      }),
    );
  });

  it("are voided once, also when an older generation has a charge of the same time", () => {
    const hashes = new ChargedHashes(windowMs);
    const start = 2 * windowMs;
    hashes.add(a, "x", start);
    for (let index = 1; index < 50_000; index++) hashes.add(index, "y", start);
    hashes.add(a, "x", start);
    hashes.delete(a, "x", start);
    expect(hashes.has(a, "x", start)).to.equal(true);
    hashes.delete(a, "x", start);
    expect(hashes.has(a, "x", start)).to.equal(false);
  });

  it("of keys with very many are kept for the last ten such keys", () => {
    const hashes = new ChargedHashes(windowMs);
    const addMany = (key: number): void => {
      for (let index = 0; index < 5_000; index++) hashes.add(key, `h-${index}`, 1);
    };
    for (const key of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1, 11]) addMany(key);
    const held = Array.from({ length: 12 }, (_, key) => key).filter((key) => hashes.has(key, "h-1", 2));
    expect(held).to.deep.equal([1, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  });

  it("of many keys with very many each are at most 100,000, those of the last keys", () => {
    const hashes = new ChargedHashes(windowMs);
    const names: [key: number, hash: string][] = [];
    for (let key = 0; key < 50; key++) {
      for (let index = 0; index < 5_000; index++) names.push([1 + key, `h-${index}`]);
    }
    hashes.add(a, "x", 0);
    for (const [key, hash] of names) hashes.add(key, hash, 1);
    const held = names.filter(([key, hash]) => hashes.has(key, hash, 2));
    expect(held.length).to.be.within(50_000, 100_000);
    expect(held).to.deep.equal(names.slice(-held.length));
    expect(hashes.has(a, "x", 2)).to.equal(true);
  });

  it("of keys with few are at most 100,000, the newest ones", () => {
    const hashes = new ChargedHashes(windowMs);
    const count = 250_000;
    for (let index = 0; index < count; index++) hashes.add(index, "x", 1);
    const held = Array.from({ length: count }, (_, index) => index).filter((index) =>
      hashes.has(index, "x", 2),
    );
    expect(held.length).to.be.at.most(100_000).and.at.least(50_000);
    expect(held.at(-1)).to.equal(count - 1);
    expect(held[0]).to.equal(count - held.length);
  });
});
