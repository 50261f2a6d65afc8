import { expect } from "chai";
import { cosineOfTurns, exp, sineOfTurns, tanh } from "../../src/domain/elementary.ts";

/** From -`most` to `most`. */
const range = (most: number, steps = 20_001): number[] =>
  Array.from({ length: steps }, (_, step) => (2 * most * step) / (steps - 1) - most);

const worst = (values: readonly number[], error: (value: number) => number): number =>
  values.reduce((most, value) => Math.max(most, Math.abs(error(value))), 0);

describe("The elementary functions of natural voices", () => {
  it("calculate powers of e to twelve digits", () => {
    expect(worst(range(700), (x) => exp(x) / Math.exp(x) - 1)).to.be.below(1e-12);
    expect([exp(0), exp(-800), exp(-Infinity)]).to.deep.equal([1, 0, 0]);
    expect(exp(1000)).to.be.finite;
  });

  it("calculate hyperbolic tangents to twelve digits", () => {
    expect(worst(range(30), (x) => tanh(x) - Math.tanh(x))).to.be.below(1e-12);
    expect([tanh(0), tanh(500), tanh(-500)]).to.deep.equal([0, 1, -1]);
  });

  it("calculate sines and cosines of turns to twelve digits", () => {
    expect(worst(range(3), (turns) => sineOfTurns(turns) - Math.sin(2 * Math.PI * turns))).to.be.below(1e-12);
    expect(worst(range(3), (turns) => cosineOfTurns(turns) - Math.cos(2 * Math.PI * turns))).to.be.below(
      1e-12,
    );
    expect([0, 0.25, 0.5, 0.75, 1].map((turns) => cosineOfTurns(turns) + 0)).to.deep.equal([1, 0, -1, 0, 1]);
  });

  it("pass on what is not a number", () => {
    for (const value of [exp, tanh, sineOfTurns, cosineOfTurns].map((of) => of(Number.NaN))) {
      expect(value).to.be.NaN;
    }
  });
});
