import { expect } from "chai";
import type { StartLimit } from "../../../src/async/scheduler/resource.ts";
import { createStartLimit } from "../../../src/engines/resilience/start-limit.ts";
import { createManualTime, type ManualTime, until } from "../../support/manual-time.ts";

describe("The start limit", () => {
  const ahead = 2;
  let time: ManualTime;
  let limit: StartLimit;

  beforeEach(() => {
    time = createManualTime();
    limit = createStartLimit(3, ahead, time);
  });

  const start = async (): Promise<void> => {
    await until(() => !limit.mustWait(() => {}));
    limit.started();
  };

  it("grants no more starts within any 60 seconds", async () => {
    await start();
    time.advance(30_000);
    await start();
    await start();
    time.advance(29_999);
    expect(limit.mustWait(() => {})).to.equal(true);
    time.advance(1);
    await start();
    expect(limit.mustWait(() => {})).to.equal(true);
    time.advance(30_000);
    await start();
    await start();
  });

  it("calls back when the next start is possible", async () => {
    for (let starts = 0; starts < 3; starts++) await start();
    const called = new Promise<void>((resolve) => limit.mustWait(resolve));
    time.advance(60_000);
    await called;
    expect(limit.mustWait(() => {})).to.equal(false);
  });
});
