import { expect } from "chai";
import fc from "fast-check";
import { SmallMap } from "../../src/domain/small-map.ts";

describe("a small map", () => {
  it("has the entries of a Map, in the same order", () => {
    const entry = fc.tuple(fc.constantFrom("", "a", "b", "c", "d"), fc.nat());
    fc.assert(
      fc.property(fc.array(entry), (entries) => {
        const small = new SmallMap<number>();
        const map = new Map<string, number>();
        for (const [key, value] of entries) {
          small.set(key, value);
          map.set(key, value);
        }
        expect([...small]).to.deep.equal([...map]);
        expect(small.size).to.equal(map.size);
        for (const key of ["", "a", "e"]) expect(small.get(key)).to.equal(map.get(key));
      }),
    );
  });
});
