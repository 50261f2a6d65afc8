import { expect } from "chai";
import { findKeyNumber, keyNumberOf } from "../../../src/domain/accounts/key-numbers.ts";

describe("the number of a key", () => {
  it("stays the same, and is another one for each key", () => {
    const first = keyNumberOf("number-a");
    expect(keyNumberOf("number-b")).to.equal(first + 1);
    expect(keyNumberOf("number-a")).to.equal(first);
    expect(findKeyNumber("number-a")).to.equal(first);
  });

  it("is not given to a key that is only looked up", () => {
    expect(findKeyNumber("number-c")).to.equal(undefined);
    const next = keyNumberOf("number-d");
    expect(keyNumberOf("number-c")).to.equal(next + 1);
  });
});
