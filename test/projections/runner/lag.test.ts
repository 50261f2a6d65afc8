import { expect } from "chai";
import { createLag } from "../../../projections/runner/lag.ts";

describe("the lag of the views", () => {
  let now = 1_000;
  const newLag = () => createLag({ now: () => now });

  it("is 0 while the views include all appends", () => {
    const lag = newLag();
    expect(lag.at(-1)).to.equal(0);
    lag.appended(5);
    now += 1_000;
    expect(lag.at(5)).to.equal(0);
  });

  it("counts from the first append that the views lack", () => {
    const lag = newLag();
    lag.appended(5);
    now += 2_000;
    lag.appended(9);
    now += 1_000;
    expect(lag.at(4)).to.equal(3_000);
    expect(lag.at(5)).to.equal(1_000);
    expect(lag.at(9)).to.equal(0);
  });

  it("counts from the end of the subscription until it has caught up again", () => {
    const lag = newLag();
    lag.lost();
    now += 4_000;
    lag.lost();
    expect(lag.at(9)).to.equal(4_000);
    lag.caughtUp();
    expect(lag.at(9)).to.equal(0);
  });
});
