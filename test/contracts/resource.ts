import { expect } from "chai";
import type { Resource, ResourceOptions } from "../../src/async/scheduler/resource.ts";
import { createWaiter, type Waiter } from "../../src/async/scheduler/waiter.ts";
import { createManualTime, type ManualTime } from "../support/manual-time.ts";
import { rejection } from "../support/rejection.ts";

const never = new AbortController().signal;

/** Lets calls between processes arrive. */
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
};

class Overloaded extends Error {}

const defaults = {
  concurrency: 1,
  concurrencyPerKey: 1,
  queueLimit: 100,
  queueLimitPerKey: 10,
  queueTimeoutMs: 10_000,
  keyRetryAfterSeconds: 2,
  overloaded: (scope: "all" | "key") => new Overloaded(scope),
};

/** The rules of the port `Resource` (src/async/scheduler/resource.ts), except for `acquireNow`. */
export const resourceContract = (
  driver: string,
  openResource: (options: ResourceOptions, time: ManualTime) => Resource,
): void => {
  describe(`a resource: ${driver}`, () => {
    let time: ManualTime;
    let resource: Resource;
    let served: string[];
    let releases: Map<string, () => void>;

    const open = (options: Partial<ResourceOptions> = {}): void => {
      resource = openResource({ ...defaults, ...options }, time);
    };
    /** Asks for a slot under a name, by which it is listed in `served` and can be released. */
    const ask = async (
      name: string,
      waiter: Waiter,
      isContinuation = false,
      signal = never,
    ): Promise<void> => {
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
      served = [];
      releases = new Map();
      open();
    });

    it("serves the queues of the keys in turn", async () => {
      const names = ["a1", "a2", "a3", "a4", "b1", "b2", "c1"];
      for (const name of names) void ask(name, createWaiter(name[0]));
      await settle();
      for (let turn = 0; turn < names.length; turn++) await release(served[turn] ?? "");
      expect(served).to.deep.equal(["a1", "b1", "c1", "a2", "b2", "a3", "a4"]);
      expect(resource.running()).to.equal(0);
    });

    it("reports for how long the oldest running job has held its slot", async () => {
      open({ concurrency: 2, concurrencyPerKey: 2 });
      for (const name of ["a1", "a2", "a3"]) {
        void ask(name, createWaiter("a"));
        await settle();
        time.advance(1_000);
      }
      expect(resource.oldestRunMs()).to.equal(3_000);
      await release("a1");
      expect(resource.oldestRunMs()).to.equal(2_000);
      await release("a2");
      await release("a3");
      expect(resource.oldestRunMs()).to.equal(0);
    });

    it("gives no key all slots", async () => {
      open({ concurrency: 3, concurrencyPerKey: 2 });
      for (const name of ["a1", "a2", "a3", "b1"]) void ask(name, createWaiter(name[0]));
      await settle();
      expect(served).to.deep.equal(["a1", "a2", "b1"]);
      await release("b1");
      expect(served).to.have.length(3);
      await release("a1");
      expect(served).to.deep.equal(["a1", "a2", "b1", "a3"]);
    });

    it("keeps reserved slots for keys with little work", async () => {
      open({ concurrency: 3, concurrencyPerKey: 3, reserved: 1 });
      for (const name of ["a1", "a2", "a3", "a4"]) void ask(name, createWaiter(name[0], 20));
      await settle();
      expect(served).to.deep.equal(["a1", "a2"]);
      void ask("c1", createWaiter("c"));
      await settle();
      expect(served).to.deep.equal(["a1", "a2", "c1"]);
    });

    it("weighs jobs by their estimated seconds of speech", async () => {
      const names = ["a1", "a2", "a3", "b1", "b2", "b3", "b4", "b5", "b6"];
      await ask("busy", createWaiter("busy"));
      for (const name of names) void ask(name, createWaiter(name[0], name.startsWith("a") ? 20 : 10), true);
      for (let turn = 0; turn < names.length; turn++) await release(served.at(-1) ?? "");
      expect(served.slice(1)).to.deep.equal(["a1", "b1", "b2", "a2", "b3", "b4", "a3", "b5", "b6"]);
    });

    it("refuses a key whose queue is full, and no other key", async () => {
      open({ queueLimitPerKey: 2 });
      for (const name of ["a1", "a2", "a3"]) void ask(name, createWaiter("a"));
      await settle();
      const refused = await rejection(resource.acquire(createWaiter("a"), never));
      expect(refused).to.be.instanceOf(Overloaded).with.property("message", "key");
      const without = await rejection(resource.requireCapacity(createWaiter("a")));
      expect(without).to.be.instanceOf(Overloaded).with.property("message", "key");
      await resource.requireCapacity(createWaiter("b"));
      void ask("b1", createWaiter("b"));
      void ask("a's second piece", createWaiter("a"), true);
      await settle();
      expect(resource.queued()).to.equal(4);
    });

    it("holds a slot for a refused key, for a second from the time at which it may try again", async () => {
      open({ queueLimitPerKey: 1 });
      const refusalOf = async (key: string): Promise<string | undefined> => {
        const asked = resource.acquire(createWaiter(key), never).then(
          () => undefined,
          (error: Error) => error.message,
        );
        return await Promise.race([asked, settle().then(() => undefined)]);
      };
      for (const name of ["a1", "a2"]) void ask(name, createWaiter("a"));
      await settle();
      expect(await refusalOf("a")).to.equal("key");
      time.advance(1_999);
      expect(await refusalOf("a")).to.equal("key");
      time.advance(1);
      await resource.requireCapacity(createWaiter("a"));
      expect(await refusalOf("a")).to.equal(undefined);
      expect(await refusalOf("a")).to.equal("key");
      time.advance(3_000);
      expect(await refusalOf("a")).to.equal("key");
    });

    it("holds that slot even if all queues together are full then", async () => {
      open({ queueLimit: 2, queueLimitPerKey: 1 });
      for (const name of ["a1", "a2"]) void ask(name, createWaiter("a"));
      await settle();
      await rejection(resource.acquire(createWaiter("a"), never));
      void ask("b1", createWaiter("b"));
      await settle();
      time.advance(2_000);
      const full = await rejection(resource.requireCapacity(createWaiter("c")));
      expect(full).to.have.property("message", "all");
      void ask("a3", createWaiter("a"));
      await settle();
      expect(resource.queued()).to.equal(3);
    });

    it("refuses every key when all queues together are full, unless a slot is free", async () => {
      open({ concurrency: 2, queueLimit: 1 });
      for (const name of ["a1", "a2"]) void ask(name, createWaiter("a"));
      await settle();
      expect(await rejection(resource.acquire(createWaiter("a"), never))).to.be.instanceOf(Overloaded);
      await ask("b1", createWaiter("b"));
      expect(served).to.deep.equal(["a1", "b1"]);
    });

    it("serves a waiter in the queue of any of its keys, including one that joins later", async () => {
      open({ concurrency: 2 });
      const shared = createWaiter("a");
      void ask("a1", createWaiter("a"));
      void ask("a2", createWaiter("a"));
      void ask("shared", shared);
      await settle();
      shared.join("b");
      await settle();
      expect(served).to.deep.equal(["a1", "shared"]);
    });

    it("refuses new work after the queue timeout, and lets continuations wait", async () => {
      await ask("a1", createWaiter("a"));
      const begins = rejection(resource.acquire(createWaiter("a"), never));
      void ask("a's second piece", createWaiter("a"), true);
      await settle();
      time.advance(10_000);
      expect(await begins).to.be.instanceOf(Overloaded);
      await release("a1");
      expect(served).to.deep.equal(["a1", "a's second piece"]);
    });

    it("says whether a job waited too long for its own key's jobs or for those of others", async () => {
      await ask("a1", createWaiter("a"));
      const shared = createWaiter("a");
      shared.join("c");
      const waiting = [createWaiter("a"), createWaiter("b"), shared].map((waiter) =>
        rejection(resource.acquire(waiter, never)),
      );
      await settle();
      time.advance(10_000);
      const scopes = (await Promise.all(waiting)).map((error) => (error as Error).message);
      expect(scopes).to.deep.equal(["key", "all", "all"]);
    });

    it("leaves the queue with the signal's reason when it is aborted", async () => {
      await ask("a1", createWaiter("a"));
      const controller = new AbortController();
      const waiting = rejection(resource.acquire(createWaiter("a"), controller.signal));
      const reason = new Error("every caller has left");
      controller.abort(reason);
      expect(await waiting).to.equal(reason);
      expect(resource.queued()).to.equal(0);
    });

    it("serves waiters without a key in order of arrival", async () => {
      for (const name of ["1", "2", "3"]) void ask(name, createWaiter());
      await settle();
      for (const name of ["1", "2", "3"]) await release(name);
      expect(served).to.deep.equal(["1", "2", "3"]);
    });

    it("releases a slot once, however often its function is called", async () => {
      open({ concurrency: 2 });
      await ask("a1", createWaiter("a"));
      await ask("b1", createWaiter("b"));
      await release("a1");
      await release("a1");
      expect(resource.running()).to.equal(1);
    });

    it("refuses beforehand what it would refuse, jobs of all its users counted", async () => {
      open({ queueLimit: 1 });
      await resource.requireCapacity(createWaiter("a"));
      await ask("a1", createWaiter("a"));
      await resource.requireCapacity(createWaiter("b"));
      void ask("b1", createWaiter("b"));
      await settle();
      const refused = await rejection(resource.requireCapacity(createWaiter("c")));
      expect(refused).to.be.instanceOf(Overloaded).with.property("message", "all");
    });
  });
};
