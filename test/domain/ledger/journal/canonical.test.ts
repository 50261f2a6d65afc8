import { createHash } from "node:crypto";
import { expect } from "chai";
import fc from "fast-check";
import {
  canonicalJson,
  eventDigest,
  NotCanonical,
  storedJson,
} from "../../../../src/domain/ledger/journal/canonical.ts";

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
    // -0 has no canonical form, and JSON.stringify() writes it as 0.
    const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown);
    fc.assert(
      fc.property(json, (value) => {
        const form = canonicalJson(value);
        expect(form).to.equal(reference(value));
        expect(canonicalJson(JSON.parse(form))).to.equal(form);
      }),
    );
    expect(canonicalJson({ b: undefined, a: 1 })).to.equal('{"a":1}');
  });

  it("does not exist for a number that would be written as null or 0", () => {
    for (const json of ["1e999", "[-1e999]", '{"b":-0,"a":1}', '{"a":[{"b":-0}]}', "-0"]) {
      expect(() => canonicalJson(JSON.parse(json)), json).to.throw(NotCanonical);
    }
  });

  it("of what is stored has every number that JSON has, and is read again as it was", () => {
    const forms = ["1e999", "[-1e999,0]", '{"a":1,"b":-0}', '{"a":[{"b":-0,"c":"-0"}],"b":null}', "-0"];
    for (const json of forms) {
      const form = storedJson(JSON.parse(json));
      expect(form).to.equal(json);
      expect(JSON.parse(form)).to.deep.equal(JSON.parse(json));
    }
    expect(storedJson({ b: 1, a: undefined })).to.equal(canonicalJson({ b: 1 }));
    expect(storedJson({ b: -0, a: undefined })).to.equal('{"b":-0}');
  });

  it("is different for names and texts of which only the code units differ", () => {
    const texts = ["\ud800", "\udc00", "\ufffd", "\ue000", "__proto__", "", "\0"];
    const forms = texts.flatMap((text) => [text, { [text]: 1 }, [text]]).map(canonicalJson);
    expect(new Set(forms).size).to.equal(forms.length);
    expect(canonicalJson(JSON.parse('{"__proto__":1,"A":2}'))).to.equal('{"A":2,"__proto__":1}');
  });

  it("of the data and the type is what the digest is calculated of", () => {
    const digest = createHash("sha256").update('{"data":{"a":"ü","b":1},"type":"T"}').digest("hex");
    expect(eventDigest({ type: "T", data: { b: 1, a: "ü" } })).to.equal(digest);
  });
});
