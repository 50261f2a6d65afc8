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

describe("the problems of an invalid value", () => {
  it("are all reported at once, each with its path", () => {
    const paths = problemsOf({ size: 11, place: { x: 1, y: "2" } }).map(({ path }) => path);
    expect(paths).to.deep.equal([["size"], ["place", "y"]]);
  });

  it("include each unknown member with its own path", () => {
    const paths = problemsOf({ size: 1, a: 1, b: 2 }).map(({ path }) => path);
    expect(paths).to.deep.equal([["a"], ["b"]]);
  });

  it("are those of the union branch that the value resembles", () => {
    expect(problemsOf({ size: 1, place: { z: 1, w: 1 } })).to.deep.equal([
      { path: ["place", "w"], message: 'There is no member "w" here.' },
    ]);
  });

  it("are a general message when the value resembles no branch of the union", () => {
    expect(problemsOf({ size: 1, place: 7 })).to.deep.equal([
      { path: ["place"], message: "Expected a place." },
    ]);
    expect(problemsOf({ size: 1, place: "nowhere" })).to.deep.equal([
      { path: ["place"], message: "Expected a place." },
    ]);
  });

  it("have a message for a missing value", () => {
    expect(problemsOf(undefined)).to.have.length(1);
    expect(problemsOf({})).to.deep.equal([{ path: ["size"], message: "is required." }]);
    expect(problemsOf({ size: 1, place: { x: 1 } })).to.deep.equal([
      { path: ["place", "y"], message: "is required." },
    ]);
  });

  it("have a message for text where a number belongs", () => {
    expect(problemsOf({ size: Number("big") })).to.deep.equal([
      { path: ["size"], message: "must be a number." },
    ]);
  });

  it("are joined in one error message with their paths, except where the text names the path already", () => {
    const expectMessage = (value: unknown) =>
      expect(() => parse(schema, value))
        .to.throw(Invalid)
        .with.property("message");
    expectMessage({ size: 11, place: { x: 1, y: "2" } }).that.matches(/^size: [^;]+; place\.y: [^;]+$/);
    expectMessage({ size: 1, place: { z: 1, w: 1 } }).that.equals('place.w: There is no member "w" here.');
    expectMessage({ place: { x: 1 } }).that.equals("size: is required; place.y: is required.");
    expectMessage({ size: 1, a: 1 }).that.equals('There is no member "a" here.');
    expectMessage(undefined).that.does.not.match(/^:/);
  });

  it("are limited to 100", () => {
    const members = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`m${i}`, i]));
    expect(problemsOf({ size: 1, ...members })).to.have.length(100);
  });
});
