import { expect } from "chai";
import { ImmutableMap } from "../../src/domain/immutable-map.ts";

describe("The immutable map", () => {
  const two = new ImmutableMap<string, number>().with("a", 1).with("b", 2);

  it("finds the value of a key", () => {
    expect([two.get("a"), two.get("b"), two.get("c")]).to.deep.equal([1, 2, undefined]);
    expect([two.has("a"), two.has("c")]).to.deep.equal([true, false]);
  });

  it("keeps the order of keys when a value is replaced", () => {
    expect(two.with("a", 3).values()).to.deep.equal([3, 2]);
  });

  it("does not change when a copy does", () => {
    two.with("a", 3).with("c", 4);
    expect(two.values()).to.deep.equal([1, 2]);
  });
});
