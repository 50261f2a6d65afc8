import { expect } from "chai";
import { createScheduler } from "../../src/async/scheduler/scheduler.ts";
import { createWaiter } from "../../src/async/scheduler/waiter.ts";
import type { Time } from "../../src/async/time.ts";
import { createSlotGrants } from "../../src/workers/grant-slots.ts";
import type { Protocol } from "../../src/workers/port.ts";
import { openRemoteResource, type SlotCalls } from "../../src/workers/remote-resource.ts";
import { resourceContract } from "../contracts/resource.ts";
import { createManualTime } from "../support/manual-time.ts";
import { rejection } from "../support/rejection.ts";
import { linkedPorts } from "./linked-ports.ts";

/** A scheduler of a worker. */
const join = (grants: ReturnType<typeof createSlotGrants>, time: Time) => {
  const ports = linkedPorts<Protocol, SlotCalls>();
  ports.primary(grants.serve().handlers);
  return createScheduler({ time, openShared: openRemoteResource(ports.worker({})) });
};

resourceContract("of the primary, used by a worker", (options, time) =>
  join(createSlotGrants({ time }), time).resource("tools", { ...options, isShared: true }),
);

describe("a resource of the primary", () => {
  it("counts the jobs of all workers before it promises one a slot", async () => {
    const time = createManualTime();
    const grants = createSlotGrants({ time });
    const [one, other] = [join(grants, time), join(grants, time)].map((scheduler) =>
      scheduler.resource("tools", {
        concurrency: 1,
        queueLimit: 0,
        queueLimitPerKey: 1,
        queueTimeoutMs: 10_000,
        overloaded: (scope) => new Error(scope),
        isShared: true,
      }),
    );
    await other?.requireCapacity(createWaiter("b"));
    await one?.acquire(createWaiter("a"), new AbortController().signal);
    const refused = await rejection(other?.requireCapacity(createWaiter("b")) ?? Promise.resolve());
    expect(refused).to.have.property("message", "all");
  });
});
