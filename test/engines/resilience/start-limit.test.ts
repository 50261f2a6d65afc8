import { expect } from "chai";
import type { StartLimit } from "../../../src/async/scheduler/resource.ts";
import { createStartLimit } from "../../../src/engines/resilience/start-limit.ts";
import { createManualClock, type ManualClock, until } from "../../support/manual-clock.ts";

describe("The start limit", () => {
  const ahead = 2;
  let clock: ManualClock;
  let limit: StartLimit;

  beforeEach(() => {
    clock = createManualClock();
    limit = createStartLimit(3, ahead, clock);
  });

  const start = async (): Promise<void> => {
    await until(() => !limit.mustWait(() => {}));
    limit.started();
  };

  it("grants no more starts within any 60 seconds", async () => {
    await start();
    clock.advance(30_000);
    await start();
    await start();
    clock.advance(29_999);
    expect(limit.mustWait(() => {})).to.equal(true);
    clock.advance(1);
    await start();
    expect(limit.mustWait(() => {})).to.equal(true);
    clock.advance(30_000);
    await start();
    await start();
  });

  it("calls back when the next start is possible", async () => {
    for (let starts = 0; starts < 3; starts++) await start();
    const called = new Promise<void>((resolve) => limit.mustWait(resolve));
    clock.advance(60_000);
    await called;
    expect(limit.mustWait(() => {})).to.equal(false);
  });
});
