import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import type { Scope } from "../../../src/async/scheduler/resource.ts";
import { createScheduler } from "../../../src/async/scheduler/scheduler.ts";
import { createWaiter } from "../../../src/async/scheduler/waiter.ts";
import { resourceContract } from "../../contracts/resource.ts";
import { createManualTime } from "../../support/manual-time.ts";
import { rejection } from "../../support/rejection.ts";

resourceContract("of one process", (options, time) => createScheduler({ time }).resource("tools", options));

describe("A resource whose clock advances while a job joins", () => {
  it("does not blame a key that has no other job", async () => {
    const time = createManualTime();
    let reads = 0;
    const scheduler = createScheduler({ time: { ...time, now: () => time.now() + ++reads / 1_000 } });
    const resource = scheduler.resource("tools", {
      concurrency: 1,
      queueLimit: 100,
      queueLimitPerKey: 10,
      queueTimeoutMs: 10_000,
      keyRetryAfterSeconds: 2,
      overloaded: (scope: Scope) => new Error(scope),
    });
    const { signal } = new AbortController();
    await resource.acquire(createWaiter("busy"), signal);
    const refused = rejection(resource.acquire(createWaiter("other"), signal));
    await setImmediate();
    time.advance(10_001);
    expect(await refused).to.have.property("message", "all");
  });
});
