import { createHash } from "node:crypto";
import { expect } from "chai";
import fc from "fast-check";
import { canonicalJson, eventDigest } from "../../../src/domain/ledger/canonical.ts";

/** Sorts all members first, and then writes JSON by hand. */
const reference = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(reference).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  members.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${reference(member)}`).join(",")}}`;
};

describe("the canonical form", () => {
  it("sorts members by name at every depth, integers as strings", () => {
    expect(canonicalJson({ b: { 10: 1, 9: 2, a: [{ d: 1, c: null }] }, a: true })).to.equal(
      '{"a":true,"b":{"10":1,"9":2,"a":[{"c":null,"d":1}]}}',
    );
  });

  it("is the same whatever the order of the members, and omits undefined members", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = canonicalJson(value);
        expect(json).to.equal(reference(value));
        expect(canonicalJson(JSON.parse(json))).to.equal(json);
      }),
    );
    expect(canonicalJson({ b: undefined, a: 1 })).to.equal('{"a":1}');
  });

  it("of the data and the type is what the digest is calculated of", () => {
    const digest = createHash("sha256").update('{"data":{"a":"ü","b":1},"type":"T"}').digest("hex");
    expect(eventDigest({ type: "T", data: { b: 1, a: "ü" } })).to.equal(digest);
  });
});
