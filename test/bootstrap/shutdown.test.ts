import { expect } from "chai";
import { createShutdownDeadline } from "../../src/bootstrap/shutdown.ts";

describe("the shutdown deadline", () => {
  it("is shared: later steps get the remaining time, never less than zero", () => {
    let now = 5_000;
    const left = createShutdownDeadline(1_000, { now: () => now });
    now = 9_000;
    expect(left()).to.equal(1_000);
    now = 9_700;
    expect(left()).to.equal(300);
    now = 20_000;
    expect(left()).to.equal(0);
  });
});
