import { expect } from "chai";
import { z } from "zod";
import { Invalid } from "../../src/domain/errors.ts";
import { parse } from "../../src/domain/validation.ts";

const schema = z.strictObject({
  size: z.number().max(10),
  place: z
    .union(
      [
        z.enum(["here", "there"]),
        z.strictObject({ x: z.number(), y: z.number() }),
        z.strictObject({ z: z.number() }),
      ],
      {
        error: "Expected a place.",
      },
    )
    .optional(),
});

const problemsOf = (value: unknown) => {
  try {
    parse(schema, value);
  } catch (error) {
    return (error as Invalid).problems;
  }
  return expect.fail("accepted");
};

describe("what is wrong with a value", () => {
  it("is told all at once, each by its path", () => {
    const paths = problemsOf({ size: 11, place: { x: 1, y: "2" } }).map(({ path }) => path);
    expect(paths).to.deep.equal([["size"], ["place", "y"]]);
  });

  it("names each unknown member by its own path", () => {
    const paths = problemsOf({ size: 1, a: 1, b: 2 }).map(({ path }) => path);
    expect(paths).to.deep.equal([["a"], ["b"]]);
  });

  it("is told of the form that was meant", () => {
    expect(problemsOf({ size: 1, place: { z: 1, w: 1 } })).to.deep.equal([
      { path: ["place", "w"], message: 'There is no member "w" here.' },
    ]);
  });

  it("is told in general when no form was meant", () => {
    expect(problemsOf({ size: 1, place: 7 })).to.deep.equal([
      { path: ["place"], message: "Expected a place." },
    ]);
    expect(problemsOf({ size: 1, place: "nowhere" })).to.deep.equal([
      { path: ["place"], message: "Expected a place." },
    ]);
  });

  it("has a message even where there is nothing at all", () => {
    expect(problemsOf(undefined)).to.have.length(1);
  });

  it("is told in one sentence that says where, unless the words do already", () => {
    const said = (value: unknown) =>
      expect(() => parse(schema, value))
        .to.throw(Invalid)
        .with.property("message");
    said({ size: 11, place: { x: 1, y: "2" } }).that.matches(/^size: [^;]+; place\.y: [^;]+$/);
    said({ size: 1, place: { z: 1, w: 1 } }).that.equals('place.w: There is no member "w" here.');
    said({ size: 1, a: 1 }).that.equals('There is no member "a" here.');
    said(undefined).that.does.not.match(/^:/);
  });

  it("is told up to a bound", () => {
    const members = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`m${i}`, i]));
    expect(problemsOf({ size: 1, ...members })).to.have.length(100);
  });
});
