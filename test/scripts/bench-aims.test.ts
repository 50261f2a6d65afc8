import { expect } from "chai";
import { type Aim, figuresOf, missedAims } from "../../scripts/bench/side-by-side.ts";

const measured = (name: string, aim: Aim, ours: number, bare: number) =>
  figuresOf({ name, unit: "ms", aim }, { ours: [ours], bare: [bare] });

describe("npm run bench -- --aims", () => {
  it("lists each figure that misses its aim, with both measurements, and no other", () => {
    const figures = [
      measured("a rate", { atLeast: 0.7 }, 7, 10),
      measured("a lower rate", { atLeast: 0.7 }, 6.9, 10),
      measured("a time", { atMost: 1 }, 10, 10),
      measured("a longer time", { atMost: 1 }, 11, 10),
      measured("a difference", { addsAtMost: 5 }, 15, 10),
      measured("a larger difference", { addsAtMost: 5 }, 15.1, 10),
    ];
    expect(missedAims(figures)).to.deep.equal([
      "a lower rate: 6.9 ms against 10 ms, ratio 0.69, aim ≥ 0.7",
      "a longer time: 11 ms against 10 ms, ratio 1.1, aim ≤ 1",
      "a larger difference: 15.1 ms against 10 ms, ratio 1.51, aim + 5",
    ]);
  });
});
