import { expect } from "chai";
import { indexJson } from "../../../src/natural/english/json-index.ts";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("An index of JSON", () => {
  it("has every member of an object, whatever characters its key contains", () => {
    const object = {
      a: "1",
      "": "empty",
      'quoted "key", {': "}",
      "back\\slash": { nested: '"' },
      é: ["ɹ", { x: 1 }],
      number: -2.5,
      none: null,
      last: true,
    };
    const index = indexJson(bytesOf(JSON.stringify(object)));
    for (const [key, value] of Object.entries(object)) expect(index.get(key), key).to.deep.equal(value);
    expect(index.get("constructor")).to.equal(undefined);
    expect(index.has("a")).to.equal(true);
    expect(index.has("b")).to.equal(false);
    expect(index.member("back\\slash").get("nested")).to.equal('"');
  });

  it("refuses an object that is cut off", () => {
    expect(() => indexJson(bytesOf('{"a":"b","c'))).to.throw(SyntaxError);
    expect(() => indexJson(bytesOf("[1]"))).to.throw(SyntaxError);
  });
});
