import { expect } from "chai";
import { lazy } from "../../src/async/lazy.ts";
import { rejection } from "../support/rejection.ts";

describe("lazy", () => {
  it("loads at the first call, once for all callers", async () => {
    let loads = 0;
    const load = lazy(async () => ++loads);
    expect(loads).to.equal(0);
    expect(await Promise.all([load(), load()])).to.deep.equal([1, 1]);
    expect(await load()).to.equal(1);
  });

  it("loads again after a failure", async () => {
    let loads = 0;
    const load = lazy(async () => {
      if (++loads === 1) throw new Error("not yet");
      return loads;
    });
    expect(((await rejection(load())) as Error).message).to.equal("not yet");
    expect(await load()).to.equal(2);
  });
});
