import { expect } from "chai";
import {
  findKeyNumber,
  keyNumberOf,
  NumberPerKey,
  PerKey,
} from "../../../src/domain/accounts/key-numbers.ts";

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

describe("values per key", () => {
  it("are those that were set, in the order of the keys' numbers", () => {
    const values = new PerKey<string>();
    values.set(5_000, "a");
    values.set(2, "b");
    values.set(3, "c");
    values.set(3, undefined);
    expect([2, 3, 4, 5_000, 5_001].map((number) => values.get(number))).to.deep.equal([
      "b",
      undefined,
      undefined,
      "a",
      undefined,
    ]);
    expect([...values]).to.deep.equal(["b", "a"]);
  });

  it("include those that are set while they are read", () => {
    const values = new PerKey<number>();
    values.set(0, 0);
    const read: number[] = [];
    for (const value of values) {
      read.push(value);
      if (value < 3) values.set(value + 1, value + 1);
    }
    expect(read).to.deep.equal([0, 1, 2, 3]);
  });
});

describe("numbers per key", () => {
  it("are sums, from 0, for any number of keys", () => {
    const numbers = new NumberPerKey();
    for (const keyNumber of [0, 1_023, 1_024, 100_000, 5]) {
      numbers.add(keyNumber, 2.5);
      numbers.add(keyNumber, keyNumber);
    }
    for (const keyNumber of [0, 1_023, 1_024, 100_000, 5])
      expect(numbers.get(keyNumber)).to.equal(keyNumber + 2.5);
    expect([1, 1_025, 1e9].map((keyNumber) => numbers.get(keyNumber))).to.deep.equal([0, 0, 0]);
  });
});
