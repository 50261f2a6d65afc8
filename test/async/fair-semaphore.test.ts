import { expect } from "chai";
import { type Claim, createClaim } from "../../src/async/claim.ts";
import {
  createFairSemaphore,
  type FairSemaphore,
  type FairSemaphoreOptions,
} from "../../src/async/fair-semaphore.ts";
import { Unavailable } from "../../src/domain/errors.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";
import { rejection } from "../support/rejection.ts";

const never = new AbortController().signal;
const settle = () => new Promise(setImmediate);

describe("Fair slots", () => {
  let clock: ManualClock;
  let slots: FairSemaphore;
  let served: string[];
  let releases: Map<string, () => void>;

  const open = (options: Partial<FairSemaphoreOptions> = {}): void => {
    const defaults = {
      concurrency: 1,
      concurrencyPerKey: 1,
      queueLimit: 100,
      queueLimitPerKey: 10,
      queueTimeoutMs: 10_000,
    };
    slots = createFairSemaphore({ ...defaults, clock, ...options });
  };
  /** Asks for a slot under a name, by which it is listed in `served` and can be released. */
  const ask = async (name: string, claim: Claim, isContinuation = false, signal = never): Promise<void> => {
    const release = await slots.acquire(claim, signal, { isContinuation });
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

  it("serve the queues of the keys in turn", async () => {
    const asked = ["a1", "a2", "a3", "a4", "b1", "b2", "c1"];
    for (const name of asked) void ask(name, createClaim(name[0]));
    await settle();
    for (let turn = 0; turn < asked.length; turn++) await release(served[turn] ?? "");
    expect(served).to.deep.equal(["a1", "a2", "b1", "c1", "a3", "b2", "a4"]);
    expect(slots.running()).to.equal(0);
  });

  it("let no key hold all of several slots", async () => {
    open({ concurrency: 3, concurrencyPerKey: 2 });
    for (const name of ["a1", "a2", "a3", "b1"]) void ask(name, createClaim(name[0]));
    await settle();
    expect(served).to.deep.equal(["a1", "a2", "b1"]);
    await release("b1");
    expect(served).to.have.length(3);
    await release("a1");
    expect(served).to.deep.equal(["a1", "a2", "b1", "a3"]);
  });

  it("start at most one job of a busy key between another key's request and its start", async () => {
    open({ concurrency: 2, concurrencyPerKey: 2 });
    for (let job = 0; job < 10; job++) void ask(`a${job}`, createClaim("a"));
    await settle();
    void ask("b", createClaim("b"));
    await release("a0");
    await release("a1");
    expect(served.indexOf("b")).to.be.at.most(3);
  });

  it("continue what a key has begun before it begins more", async () => {
    void ask("first", createClaim("a"));
    await settle();
    void ask("another", createClaim("a"));
    void ask("its second piece", createClaim("a"), true);
    await release("first");
    expect(served).to.deep.equal(["first", "its second piece"]);
  });

  it("refuse a key whose queue is full, and no other", async () => {
    open({ queueLimitPerKey: 2 });
    for (const name of ["a1", "a2", "a3"]) void ask(name, createClaim("a"));
    await settle();
    const refused = await rejection(slots.acquire(createClaim("a"), never));
    expect(refused).to.be.instanceOf(Unavailable).and.have.property("message").that.contains("API key");
    expect(() => slots.requireCapacity(createClaim("a"))).to.throw(Unavailable, "API key");
    slots.requireCapacity(createClaim("b"));
    void ask("b1", createClaim("b"));
    void ask("a's second piece", createClaim("a"), true);
    await settle();
    expect(slots.queued()).to.equal(4);
  });

  it("refuse everybody when all queues together are full, except who finds a slot free", async () => {
    open({ concurrency: 2, queueLimit: 1 });
    for (const name of ["a1", "a2"]) void ask(name, createClaim("a"));
    await settle();
    expect(await rejection(slots.acquire(createClaim("a"), never))).to.be.instanceOf(Unavailable);
    await ask("b1", createClaim("b"));
    expect(served).to.deep.equal(["a1", "b1"]);
  });

  it("serve a claim in the queue of whichever key comes first, also of one that joins", async () => {
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

  it("give up waiting to begin after a time, and never what isContinuation", async () => {
    await ask("a1", createClaim("a"));
    const begins = rejection(slots.acquire(createClaim("a"), never));
    void ask("a's second piece", createClaim("a"), true);
    await settle();
    clock.advance(10_000);
    expect(await begins).to.be.instanceOf(Unavailable);
    await release("a1");
    expect(served).to.deep.equal(["a1", "a's second piece"]);
  });

  it("leave the queue with the signal's reason when it is aborted", async () => {
    await ask("a1", createClaim("a"));
    const controller = new AbortController();
    const waiting = rejection(slots.acquire(createClaim("a"), controller.signal));
    const reason = new Error("nobody waits any more");
    controller.abort(reason);
    expect(await waiting).to.equal(reason);
    expect(slots.queued()).to.equal(0);
  });

  it("serve claims without a key in order of arrival", async () => {
    for (const name of ["1", "2", "3"]) void ask(name, createClaim());
    await settle();
    for (const name of ["1", "2", "3"]) await release(name);
    expect(served).to.deep.equal(["1", "2", "3"]);
  });
});
