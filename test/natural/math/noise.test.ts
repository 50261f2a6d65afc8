import { expect } from "chai";
import { createNoise } from "../../../src/natural/math/noise.ts";

const noiseOf = (seed: number, length: number): number[] => {
  const values = new Float64Array(length);
  createNoise(seed)(values);
  return [...values];
};

describe("The noise of natural voices", () => {
  it("is the same for the same seed and another one for another seed", () => {
    const first = (seed: number) => noiseOf(seed, 100);
    expect(first(1)).to.deep.equal(first(1));
    expect(first(1)).not.to.deep.equal(first(2));
  });

  it("returns the values that follow at the next call", () => {
    const noise = createNoise(1);
    const halves = [new Float64Array(50), new Float64Array(50)];
    for (const half of halves) noise(half);
    expect(halves.flatMap((half) => [...half])).to.deep.equal(noiseOf(1, 100));
  });

  it("has the moments of a normal distribution and no correlation", () => {
    const values = noiseOf(7, 200_000);
    const mean = (of: (value: number, index: number) => number) =>
      values.reduce((sum, value, index) => sum + of(value, index), 0) / values.length;
    expect(mean((x) => x)).to.be.closeTo(0, 0.01);
    expect(mean((x) => x * x)).to.be.closeTo(1, 0.01);
    expect(mean((x) => x * x * x)).to.be.closeTo(0, 0.03);
    expect(mean((x) => x * x * x * x)).to.be.closeTo(3, 0.4);
    expect(mean((x, index) => x * (values[index - 1] ?? 0))).to.be.closeTo(0, 0.01);
  });
});
