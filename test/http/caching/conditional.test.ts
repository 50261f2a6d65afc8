import { expect } from "chai";
import { noneMatchHits, partOf } from "../../../src/http/caching/conditional.ts";

const tag = '"abc"';

describe("If-None-Match", () => {
  for (const [value, hit] of [
    [tag, true],
    [`W/${tag}`, true],
    [`"x", W/${tag} , "y"`, true],
    ["*", true],
    ['"abd"', false],
    ["abc", false],
    ["", false],
    [undefined, false],
  ] as const) {
    it(`${value} ${hit ? "matches" : "does not match"} ${tag}`, () => {
      expect(noneMatchHits(value, [tag])).to.equal(hit);
    });
  }
});

describe("Range over 100 bytes", () => {
  const whole = "whole";
  const none = "unsatisfiable";
  for (const [range, part] of [
    [undefined, whole],
    ["bytes=0-1", { first: 0, last: 1 }],
    ["bytes=0-", { first: 0, last: 99 }],
    ["bytes=90-200", { first: 90, last: 99 }],
    ["bytes=-10", { first: 90, last: 99 }],
    ["bytes=-1000", { first: 0, last: 99 }],
    ["bytes=-0", none],
    ["bytes=100-", none],
    ["bytes=100-200", none],
    ["bytes=5-4", whole],
    ["bytes=-", whole],
    ["bytes=0-1,5-6", whole],
    ["lines=0-1", whole],
    ["bytes=a-b", whole],
  ] as const) {
    it(`${range} is ${JSON.stringify(part)}`, () => {
      expect(partOf({ range, ifRange: undefined }, tag, 100)).to.deep.equal(part);
    });
  }

  it("is ignored if If-Range is another entity tag or a weak one", () => {
    expect(partOf({ range: "bytes=0-1", ifRange: '"old"' }, tag, 100)).to.equal(whole);
    expect(partOf({ range: "bytes=0-1", ifRange: `W/${tag}` }, tag, 100)).to.equal(whole);
    expect(partOf({ range: "bytes=0-1", ifRange: tag }, tag, 100)).to.deep.equal({ first: 0, last: 1 });
  });
});
