import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import fc from "fast-check";
import { createSingleFlight, type SingleFlight } from "../../src/async/single-flight.ts";

const never = new AbortController().signal;

describe("single-flight", () => {
  it("runs once for all concurrent callers of a key, and reports which caller is the leader", async () => {
    const singleFlight = createSingleFlight<number>();
    let starts = 0;
    const work = Promise.withResolvers<number>();
    const start = () => {
      starts++;
      return work.promise;
    };
    const callers = Array.from({ length: 60 }, () => singleFlight.run("a", start, never));
    work.resolve(7);
    const results = await Promise.all(callers);
    expect(starts).to.equal(1);
    expect(results.map(({ value }) => value)).to.deep.equal(Array(60).fill(7));
    expect(results.map(({ leader }) => leader)).to.deep.equal([true, ...Array(59).fill(false)]);
    expect(singleFlight.size()).to.equal(0);
  });

  it("runs separately for each key", async () => {
    const singleFlight = createSingleFlight<string>();
    const results = await Promise.all(["a", "b"].map((key) => singleFlight.run(key, async () => key, never)));
    expect(results).to.deep.equal([
      { value: "a", leader: true },
      { value: "b", leader: true },
    ]);
  });

  it("rejects all waiting callers when the run fails, but no later caller", async () => {
    const singleFlight = createSingleFlight<number>();
    const failure = new Error("no engine");
    const results = await Promise.allSettled([
      singleFlight.run("a", () => Promise.reject(failure), never),
      singleFlight.run("a", async () => 1, never),
    ]);
    expect(results.map((each) => each.status === "rejected" && each.reason)).to.deep.equal([
      failure,
      failure,
    ]);
    expect(await singleFlight.run("a", async () => 2, never)).to.deep.equal({ value: 2, leader: true });
  });

  it("starts a new run for a caller that reacts to a failure", async () => {
    const singleFlight = createSingleFlight<number>();
    const again = await singleFlight
      .run("a", () => Promise.reject(new Error("no engine")), never)
      .catch(() => singleFlight.run("a", async () => 2, never));
    expect(again).to.deep.equal({ value: 2, leader: true });
  });

  it("rejects when the work throws synchronously", async () => {
    const singleFlight = createSingleFlight<number>();
    const failure = new TypeError("bad");
    const start = (): Promise<number> => {
      throw failure;
    };
    expect(await singleFlight.run("a", start, never).catch((error: unknown) => error)).to.equal(failure);
    expect(singleFlight.size()).to.equal(0);
  });

  it("rejects new keys when too many runs are in flight, but lets callers join existing runs", async () => {
    const full = new Error("full");
    const singleFlight = createSingleFlight<number>({ max: 2, full: () => full });
    const work = Promise.withResolvers<number>();
    const callers = ["a", "b", "a"].map((key) => singleFlight.run(key, () => work.promise, never));
    const refused = singleFlight.run("c", () => work.promise, never);
    expect(await refused.catch((error: unknown) => error)).to.equal(full);
    work.resolve(1);
    await Promise.all(callers);
    expect((await singleFlight.run("c", async () => 2, never)).value).to.equal(2);
  });

  it("starts no run for an aborted caller", async () => {
    const singleFlight = createSingleFlight<number>();
    const reason = new Error("gone");
    let starts = 0;
    const start = async () => ++starts;
    const result = singleFlight.run("a", start, AbortSignal.abort(reason));
    expect(await result.catch((error: unknown) => error)).to.equal(reason);
    await setImmediate();
    expect(starts).to.equal(0);
  });

  it("starts no run when the only caller aborts in the same tick", async () => {
    const singleFlight = createSingleFlight<number>();
    const controller = new AbortController();
    let starts = 0;
    const result = singleFlight.run("a", async () => ++starts, controller.signal);
    controller.abort(new Error("gone"));
    await result.catch(() => undefined);
    await setImmediate();
    expect(singleFlight.size()).to.equal(0);
    expect(starts).to.be.at.most(1);
  });

  it("removes its abort listeners when the run ends", async () => {
    const singleFlight = createSingleFlight<number>();
    const { signal } = new AbortController();
    let listening = 0;
    const counted = new Proxy(signal, {
      get: (target, key) => {
        if (key === "addEventListener") listening++;
        if (key === "removeEventListener") listening--;
        const value = Reflect.get(target, key, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    await singleFlight.run("a", async () => 1, counted);
    await singleFlight.run("a", () => Promise.reject(new Error("x")), counted).catch(() => undefined);
    await setImmediate();
    expect(listening).to.equal(0);
  });
});

/** The state of one run of the work. */
interface Work {
  readonly id: number;
  readonly signal: AbortSignal;
  readonly resolve: (id: number) => void;
  readonly reject: (error: unknown) => void;
  readonly waiters: Set<Waiter>;
}

interface Waiter {
  readonly controller: AbortController;
  readonly outcome: Promise<Outcome>;
  readonly work: Work;
  readonly leader: boolean;
}

type Outcome = { readonly value: number; readonly leader: boolean } | { readonly reason: unknown };
type Step = {
  readonly do: "join" | "abort" | "resolve" | "reject";
  readonly key: string;
  readonly pick: number;
};

const step: fc.Arbitrary<Step> = fc.record({
  do: fc.constantFrom("join", "join", "abort", "resolve", "reject"),
  key: fc.constantFrom("a", "b"),
  pick: fc.nat(50),
});

describe("single-flight with random joins, aborts and results", () => {
  it("behaves like the model", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60, size: "max" }), fc.boolean(), async (steps, pause) => {
        const model = createModel(createSingleFlight<number>());
        for (const each of steps) {
          await model.apply(each);
          if (pause) await setImmediate();
        }
        await model.close();
      }),
      { numRuns: 300 },
    );
  });
});

/** The model: runs and waiting callers by key, checked after every step. */
const createModel = (singleFlight: SingleFlight<number>) => {
  const current = new Map<string, Work>();
  const all: Waiter[] = [];
  let ids = 0;

  const join = async (key: string): Promise<void> => {
    const running = current.get(key);
    const controller = new AbortController();
    const started: Work[] = [];
    const start = (signal: AbortSignal): Promise<number> => {
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      started.push({ id: ++ids, signal, resolve, reject, waiters: new Set() });
      return promise;
    };
    const outcome = singleFlight.run(key, start, controller.signal).catch((reason: unknown) => ({ reason }));
    await setImmediate();
    expect(started, "started only when none was under way").to.have.length(running ? 0 : 1);
    const work = (running ?? started[0]) as Work;
    const waiter = { controller, outcome, work, leader: running === undefined };
    current.set(key, work);
    work.waiters.add(waiter);
    all.push(waiter);
  };

  const abort = async (key: string, work: Work, pick: number): Promise<void> => {
    const waiter = [...work.waiters][pick % work.waiters.size] as Waiter;
    const reason = new Error("aborted");
    waiter.controller.abort(reason);
    expect(await waiter.outcome).to.deep.equal({ reason });
    work.waiters.delete(waiter);
    expect(work.signal.aborted, "aborted when the last has aborted").to.equal(work.waiters.size === 0);
    if (work.waiters.size > 0) return;
    expect(work.signal.reason).to.equal(reason);
    current.delete(key);
  };

  const end = async (key: string, work: Work, succeeds: boolean): Promise<void> => {
    const failure = new Error("fails");
    if (succeeds) work.resolve(work.id);
    else work.reject(failure);
    for (const { outcome, leader } of work.waiters) {
      expect(await outcome).to.deep.equal(succeeds ? { value: work.id, leader } : { reason: failure });
    }
    expect(work.signal.aborted).to.equal(false);
    current.delete(key);
  };

  return {
    apply: async ({ do: what, key, pick }: Step): Promise<void> => {
      const work = current.get(key);
      if (what === "join") await join(key);
      else if (work && what === "abort") await abort(key, work, pick);
      else if (work) await end(key, work, what === "resolve");
    },
    close: async (): Promise<void> => {
      for (const [key, work] of current) await end(key, work, true);
      expect(singleFlight.size()).to.equal(0);
      for (const { leader, outcome, work } of all) {
        const result = await outcome;
        if ("value" in result) expect(result).to.deep.equal({ value: work.id, leader });
      }
    },
  };
};
