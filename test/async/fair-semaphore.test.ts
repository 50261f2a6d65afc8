import { expect } from "chai";
import { type Claim, createClaim } from "../../src/async/claim.ts";
import {
  createFairSemaphore,
  type FairSemaphore,
  type FairSemaphoreOptions,
} from "../../src/async/fair-semaphore.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";
import { rejection } from "../support/rejection.ts";

const never = new AbortController().signal;
const settle = () => new Promise(setImmediate);

class Overloaded extends Error {}

const overloaded = (scope: "all" | "key") => new Overloaded(scope);

describe("Fair semaphore", () => {
  let clock: ManualClock;
  let semaphore: FairSemaphore;
  let served: string[];
  let releases: Map<string, () => void>;

  const open = (options: Partial<FairSemaphoreOptions> = {}): void => {
    const defaults = {
      concurrency: 1,
      concurrencyPerKey: 1,
      queueLimit: 100,
      queueLimitPerKey: 10,
      queueTimeoutMs: 10_000,
      overloaded,
    };
    semaphore = createFairSemaphore({ ...defaults, clock, ...options });
  };
  /** Asks for a slot under a name, by which it is listed in `served` and can be released. */
  const ask = async (name: string, claim: Claim, isContinuation = false, signal = never): Promise<void> => {
    const release = await semaphore.acquire(claim, signal, { isContinuation });
    served.push(name);
    releases.set(name, release);
  };
  const release = async (name: string): Promise<void> => {
    releases.get(name)?.();
    await settle();
  };

  beforeEach(() => {
    clock = createManualClock();
    served = [];
    releases = new Map();
    open();
  });

  it("serves the queues of the keys in turn", async () => {
    const asked = ["a1", "a2", "a3", "a4", "b1", "b2", "c1"];
    for (const name of asked) void ask(name, createClaim(name[0]));
    await settle();
    for (let turn = 0; turn < asked.length; turn++) await release(served[turn] ?? "");
    expect(served).to.deep.equal(["a1", "a2", "b1", "c1", "a3", "b2", "a4"]);
    expect(semaphore.running()).to.equal(0);
  });

  it("gives no key all slots", async () => {
    open({ concurrency: 3, concurrencyPerKey: 2 });
    for (const name of ["a1", "a2", "a3", "b1"]) void ask(name, createClaim(name[0]));
    await settle();
    expect(served).to.deep.equal(["a1", "a2", "b1"]);
    await release("b1");
    expect(served).to.have.length(3);
    await release("a1");
    expect(served).to.deep.equal(["a1", "a2", "b1", "a3"]);
  });

  it("starts at most one job of a busy key between another key's request and its start", async () => {
    open({ concurrency: 2, concurrencyPerKey: 2 });
    for (let job = 0; job < 10; job++) void ask(`a${job}`, createClaim("a"));
    await settle();
    void ask("b", createClaim("b"));
    await release("a0");
    await release("a1");
    expect(served.indexOf("b")).to.be.at.most(3);
  });

  it("serves a continuation before new work of the same key", async () => {
    void ask("first", createClaim("a"));
    await settle();
    void ask("another", createClaim("a"));
    void ask("its second piece", createClaim("a"), true);
    await release("first");
    expect(served).to.deep.equal(["first", "its second piece"]);
  });

  it("refuses a key whose queue is full, and no other key", async () => {
    open({ queueLimitPerKey: 2 });
    for (const name of ["a1", "a2", "a3"]) void ask(name, createClaim("a"));
    await settle();
    const refused = await rejection(semaphore.acquire(createClaim("a"), never));
    expect(refused).to.be.instanceOf(Overloaded).with.property("message", "key");
    expect(() => semaphore.requireCapacity(createClaim("a"))).to.throw(Overloaded, "key");
    semaphore.requireCapacity(createClaim("b"));
    void ask("b1", createClaim("b"));
    void ask("a's second piece", createClaim("a"), true);
    await settle();
    expect(semaphore.queued()).to.equal(4);
  });

  it("refuses every key when all queues together are full, unless a slot is free", async () => {
    open({ concurrency: 2, queueLimit: 1 });
    for (const name of ["a1", "a2"]) void ask(name, createClaim("a"));
    await settle();
    expect(await rejection(semaphore.acquire(createClaim("a"), never))).to.be.instanceOf(Overloaded);
    await ask("b1", createClaim("b"));
    expect(served).to.deep.equal(["a1", "b1"]);
  });

  it("serves a claim in the queue of any of its keys, including one that joins later", async () => {
    open({ concurrency: 2 });
    const shared = createClaim("a");
    void ask("a1", createClaim("a"));
    void ask("a2", createClaim("a"));
    void ask("shared", shared);
    await settle();
    shared.join("b");
    await settle();
    expect(served).to.deep.equal(["a1", "shared"]);
  });

  it("refuses new work after the queue timeout, and lets continuations wait", async () => {
    await ask("a1", createClaim("a"));
    const begins = rejection(semaphore.acquire(createClaim("a"), never));
    void ask("a's second piece", createClaim("a"), true);
    await settle();
    clock.advance(10_000);
    expect(await begins).to.be.instanceOf(Overloaded);
    await release("a1");
    expect(served).to.deep.equal(["a1", "a's second piece"]);
  });

  it("leaves the queue with the signal's reason when it is aborted", async () => {
    await ask("a1", createClaim("a"));
    const controller = new AbortController();
    const waiting = rejection(semaphore.acquire(createClaim("a"), controller.signal));
    const reason = new Error("every caller has left");
    controller.abort(reason);
    expect(await waiting).to.equal(reason);
    expect(semaphore.queued()).to.equal(0);
  });

  it("serves claims without a key in order of arrival", async () => {
    for (const name of ["1", "2", "3"]) void ask(name, createClaim());
    await settle();
    for (const name of ["1", "2", "3"]) await release(name);
    expect(served).to.deep.equal(["1", "2", "3"]);
  });

  it("releases a slot once, however often its function is called", async () => {
    open({ concurrency: 2 });
    await ask("a1", createClaim("a"));
    await ask("b1", createClaim("b"));
    await release("a1");
    await release("a1");
    expect(semaphore.running()).to.equal(1);
  });

  it("starts nothing while the start limit makes it wait", async () => {
    const starts = { left: 1, retry: () => {} };
    const mustWait = (retry: () => void): boolean => {
      starts.retry = retry;
      return starts.left === 0;
    };
    open({ concurrency: 9, concurrencyPerKey: 9, startLimit: { mustWait, started: () => starts.left-- } });
    await ask("1", createClaim("a"));
    const second = ask("2", createClaim("a"));
    await settle();
    expect(served).to.deep.equal(["1"]);
    starts.left = 1;
    starts.retry();
    await second;
    expect(served).to.deep.equal(["1", "2"]);
  });

  it("uses up neither slots nor starts for claims that leave the queue", async () => {
    let starts = 3;
    const startLimit = { mustWait: () => starts === 0, started: () => void starts-- };
    open({ concurrencyPerKey: 9, startLimit });
    await ask("1", createClaim("a"));
    for (let round = 0; round < 20; round++) {
      const controller = new AbortController();
      const waiting = rejection(semaphore.acquire(createClaim("a"), controller.signal));
      controller.abort();
      await waiting;
    }
    await release("1");
    await ask("2", createClaim("a"));
    expect({ running: semaphore.running(), queued: semaphore.queued(), starts }).to.deep.equal({
      running: 1,
      queued: 0,
      starts: 1,
    });
  });
});
