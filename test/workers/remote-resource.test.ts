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

/** Joins a worker. Returns its scheduler, and the function that ends the worker. */
const joinUntilEnd = (grants: ReturnType<typeof createSlotGrants>, time: Time) => {
  const ports = linkedPorts<Protocol, SlotCalls>();
  const { handlers, end } = grants.serve();
  ports.primary(handlers);
  return { scheduler: createScheduler({ time, openShared: openRemoteResource(ports.worker({})) }), end };
};

const join = (grants: ReturnType<typeof createSlotGrants>, time: Time) =>
  joinUntilEnd(grants, time).scheduler;

resourceContract("of the primary, used by a worker", (options, time) =>
  join(createSlotGrants({ time }), time).resource("tools", { ...options, isShared: true }),
);

describe("a resource of the primary", () => {
  it("frees the slots of a worker that has ended, and starts none of its jobs that wait", async () => {
    const time = createManualTime();
    const grants = createSlotGrants({ time });
    const options = {
      ...{ concurrency: 1, queueLimit: 5, queueLimitPerKey: 5, queueTimeoutMs: 10_000 },
      keyRetryAfterSeconds: 1,
      overloaded: (scope: string) => new Error(scope),
      isShared: true,
    };
    const [dying, living] = [joinUntilEnd(grants, time), joinUntilEnd(grants, time)];
    const { signal } = new AbortController();
    const lost = dying.scheduler.resource("tools", options);
    await lost.acquire(createWaiter("a"), signal);
    void lost.acquire(createWaiter("b"), signal).catch(() => {});
    await new Promise(setImmediate);
    const granted = living.scheduler.resource("tools", options).acquire(createWaiter("c"), signal);
    await new Promise(setImmediate);
    dying.end();
    await granted;
  });

  it("counts the jobs of all workers when a worker asks whether there is capacity", async () => {
    const time = createManualTime();
    const grants = createSlotGrants({ time });
    const [one, other] = [join(grants, time), join(grants, time)].map((scheduler) =>
      scheduler.resource("tools", {
        concurrency: 1,
        queueLimit: 0,
        queueLimitPerKey: 1,
        queueTimeoutMs: 10_000,
        keyRetryAfterSeconds: 1,
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
