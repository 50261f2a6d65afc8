import { expect } from "chai";
import type { Resource, ResourceOptions } from "../../../src/async/scheduler/resource.ts";
import { createScheduler, type Scheduler } from "../../../src/async/scheduler/scheduler.ts";
import { createWaiter, type Waiter } from "../../../src/async/scheduler/waiter.ts";
import { requireShortQueues } from "../../../src/bootstrap/health.ts";
import { createManualTime, type ManualTime } from "../../support/manual-time.ts";
import { rejection } from "../../support/rejection.ts";

const never = new AbortController().signal;
const settle = () => new Promise(setImmediate);

class Overloaded extends Error {}

const overloaded = (scope: "all" | "key") => new Overloaded(scope);

describe("The scheduler", () => {
  let time: ManualTime;
  let scheduler: Scheduler;
  let resource: Resource;
  let waits: number[];
  let served: string[];
  let releases: Map<string, () => void>;

  const open = (options: Partial<ResourceOptions> = {}): void => {
    const defaults = {
      concurrency: 1,
      concurrencyPerKey: 1,
      queueLimit: 100,
      queueLimitPerKey: 10,
      queueTimeoutMs: 10_000,
      keyRetryAfterSeconds: 2,
      overloaded,
    };
    resource = scheduler.resource("tools", { ...defaults, ...options });
  };
  /** Asks for a slot under a name, by which it is listed in `served` and can be released. */
  const ask = async (name: string, waiter: Waiter, isContinuation = false, signal = never): Promise<void> => {
    const release = await resource.acquire(waiter, signal, { isContinuation });
    served.push(name);
    releases.set(name, release);
  };
  const release = async (name: string): Promise<void> => {
    releases.get(name)?.();
    await settle();
  };

  beforeEach(() => {
    time = createManualTime();
    waits = [];
    scheduler = createScheduler({ time, onStart: (_resource, waitedMs) => waits.push(waitedMs) });
    served = [];
    releases = new Map();
    open();
  });

  it("gives a slot at once or refuses", () => {
    open({ concurrency: 2, queueLimit: 0, queueLimitPerKey: 0 });
    const release = resource.acquireNow(createWaiter("a"));
    expect(() => resource.acquireNow(createWaiter("a"))).to.throw(Overloaded, "key");
    resource.acquireNow(createWaiter("b"));
    expect(() => resource.acquireNow(createWaiter("c"))).to.throw(Overloaded, "all");
    release();
    resource.acquireNow(createWaiter("a"));
  });

  it("never runs more jobs of a key than its limit, however often it was refused", () => {
    open({ concurrency: 9, queueLimit: 0, queueLimitPerKey: 0 });
    resource.acquireNow(createWaiter("a"));
    for (let attempt = 0; attempt < 100; attempt++) {
      expect(() => resource.acquireNow(createWaiter("a"))).to.throw(Overloaded, "key");
      time.advance(500);
    }
    expect(resource.running()).to.equal(1);
    resource.acquireNow(createWaiter("b"));
  });

  it("counts the jobs that were refused for their key alone", async () => {
    open({ queueLimit: 2, queueLimitPerKey: 1 });
    for (const name of ["a1", "a2", "b1"]) void ask(name, createWaiter(name[0]));
    await settle();
    for (const key of ["a", "a", "c"]) await rejection(resource.acquire(createWaiter(key), never));
    expect(scheduler.stats()[0]).to.include({ refused: 3, refusedForKey: 2 });
  });

  it("reports running, waiting and refused jobs, the time that jobs waited, and the oldest wait", async () => {
    open({ queueLimit: 1 });
    await ask("a1", createWaiter("a"));
    void ask("b1", createWaiter("b"));
    await settle();
    await rejection(resource.acquire(createWaiter("c"), never));
    time.advance(3_000);
    const busy = {
      resource: "tools",
      running: 1,
      queued: 1,
      refused: 1,
      refusedForKey: 0,
      isFull: true,
      isSlow: false,
    };
    expect(scheduler.stats()).to.deep.equal([{ ...busy, oldestWaitMs: 3_000 }]);
    expect([...scheduler.oldestRuns()]).to.deep.equal([["tools", 3_000]]);
    await release("a1");
    await release("b1");
    expect(waits).to.deep.equal([0, 3_000]);
    expect([...scheduler.oldestRuns()]).to.deep.equal([["tools", 0]]);
    const idle = {
      resource: "tools",
      running: 0,
      queued: 0,
      refused: 1,
      refusedForKey: 0,
      isFull: false,
      isSlow: false,
    };
    expect(scheduler.stats()).to.deep.equal([{ ...idle, oldestWaitMs: 0 }]);
  });

  it("reports a resource as slow when a key has waited for more than half of its queue timeout", async () => {
    open({ queueTimeoutMs: 30_000 });
    await ask("a1", createWaiter("a"));
    void ask("b1", createWaiter("b"));
    await settle();
    time.advance(15_000);
    expect(scheduler.stats()).to.have.nested.property("[0].isSlow", false);
    requireShortQueues(scheduler.stats());
    time.advance(1_000);
    expect(scheduler.stats()).to.have.nested.property("[0].isSlow", true);
    expect(() => requireShortQueues(scheduler.stats())).to.throw("tools: a key waits for 16 s");
  });

  it("does not count the wait of a key that gets slots, or is at its own limit", async () => {
    open({ concurrency: 2 });
    for (const name of ["a1", "a2", "b1"]) void ask(name, createWaiter(name[0]));
    await settle();
    time.advance(3_000);
    expect(scheduler.stats()).to.have.nested.property("[0].oldestWaitMs", 0);
  });

  it("starts nothing while the start limit makes it wait", async () => {
    const starts = { left: 1, retry: () => {} };
    const mustWait = (retry: () => void): boolean => {
      starts.retry = retry;
      return starts.left === 0;
    };
    open({ concurrency: 9, concurrencyPerKey: 9, startLimit: { mustWait, started: () => starts.left-- } });
    await ask("1", createWaiter("a"));
    const second = ask("2", createWaiter("a"));
    await settle();
    expect(served).to.deep.equal(["1"]);
    starts.left = 1;
    starts.retry();
    await second;
    expect(served).to.deep.equal(["1", "2"]);
  });

  it("uses up neither slots nor starts for waiters that leave the queue", async () => {
    let starts = 3;
    const startLimit = { mustWait: () => starts === 0, started: () => void starts-- };
    open({ concurrencyPerKey: 9, startLimit });
    await ask("1", createWaiter("a"));
    for (let round = 0; round < 20; round++) {
      const controller = new AbortController();
      const waiting = rejection(resource.acquire(createWaiter("a"), controller.signal));
      controller.abort();
      await waiting;
    }
    await release("1");
    await ask("2", createWaiter("a"));
    expect({ running: resource.running(), queued: resource.queued(), starts }).to.deep.equal({
      running: 1,
      queued: 0,
      starts: 1,
    });
  });
});
