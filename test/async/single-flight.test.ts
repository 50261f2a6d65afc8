import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import fc from "fast-check";
import { createSingleFlight, type SingleFlight } from "../../src/async/single-flight.ts";

const never = new AbortController().signal;

describe("a flight", () => {
  it("is one for all who ask while it is under way, and tells who led", async () => {
    const flights = createSingleFlight<number>();
    let starts = 0;
    const work = Promise.withResolvers<number>();
    const start = () => {
      starts++;
      return work.promise;
    };
    const asked = Array.from({ length: 60 }, () => flights.run("a", start, never));
    work.resolve(7);
    const answers = await Promise.all(asked);
    expect(starts).to.equal(1);
    expect(answers.map(({ value }) => value)).to.deep.equal(Array(60).fill(7));
    expect(answers.map(({ leader }) => leader)).to.deep.equal([true, ...Array(59).fill(false)]);
    expect(flights.size()).to.equal(0);
  });

  it("is not shared between keys", async () => {
    const flights = createSingleFlight<string>();
    const answers = await Promise.all(["a", "b"].map((key) => flights.run(key, async () => key, never)));
    expect(answers).to.deep.equal([
      { value: "a", leader: true },
      { value: "b", leader: true },
    ]);
  });

  it("tells its failure to all who wait and to nobody after them", async () => {
    const flights = createSingleFlight<number>();
    const failure = new Error("no engine");
    const asked = await Promise.allSettled([
      flights.run("a", () => Promise.reject(failure), never),
      flights.run("a", async () => 1, never),
    ]);
    expect(asked.map((each) => each.status === "rejected" && each.reason)).to.deep.equal([failure, failure]);
    expect(await flights.run("a", async () => 2, never)).to.deep.equal({ value: 2, leader: true });
  });

  it("tells its failure to nobody who asks on hearing of it", async () => {
    const flights = createSingleFlight<number>();
    const again = await flights
      .run("a", () => Promise.reject(new Error("no engine")), never)
      .catch(() => flights.run("a", async () => 2, never));
    expect(again).to.deep.equal({ value: 2, leader: true });
  });

  it("fails like any other when the work throws before it has a promise", async () => {
    const flights = createSingleFlight<number>();
    const failure = new TypeError("bad");
    const start = (): Promise<number> => {
      throw failure;
    };
    expect(await flights.run("a", start, never).catch((error: unknown) => error)).to.equal(failure);
    expect(flights.size()).to.equal(0);
  });

  it("is refused when as many are under way as may be, but for who joins one of them", async () => {
    const full = new Error("full");
    const flights = createSingleFlight<number>({ max: 2, full: () => full });
    const work = Promise.withResolvers<number>();
    const asked = ["a", "b", "a"].map((key) => flights.run(key, () => work.promise, never));
    const refused = flights.run("c", () => work.promise, never);
    expect(await refused.catch((error: unknown) => error)).to.equal(full);
    work.resolve(1);
    await Promise.all(asked);
    expect((await flights.run("c", async () => 2, never)).value).to.equal(2);
  });

  it("is not begun by who has left already", async () => {
    const flights = createSingleFlight<number>();
    const reason = new Error("gone");
    let starts = 0;
    const start = async () => ++starts;
    const asked = flights.run("a", start, AbortSignal.abort(reason));
    expect(await asked.catch((error: unknown) => error)).to.equal(reason);
    await setImmediate();
    expect(starts).to.equal(0);
  });

  it("is not begun when the only one leaves in the same breath", async () => {
    const flights = createSingleFlight<number>();
    const controller = new AbortController();
    let starts = 0;
    const asked = flights.run("a", async () => ++starts, controller.signal);
    controller.abort(new Error("gone"));
    await asked.catch(() => undefined);
    await setImmediate();
    expect(flights.size()).to.equal(0);
    expect(starts).to.be.at.most(1);
  });

  it("lets go of the signals that it listened to", async () => {
    const flights = createSingleFlight<number>();
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
    await flights.run("a", async () => 1, counted);
    await flights.run("a", () => Promise.reject(new Error("x")), counted).catch(() => undefined);
    await setImmediate();
    expect(listening).to.equal(0);
  });
});

/** What the test knows of one start of the work. */
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
  readonly led: boolean;
}

type Outcome = { readonly value: number; readonly leader: boolean } | { readonly reason: unknown };
type Step = { readonly do: "join" | "leave" | "land" | "fail"; readonly key: string; readonly pick: number };

const step: fc.Arbitrary<Step> = fc.record({
  do: fc.constantFrom("join", "join", "leave", "land", "fail"),
  key: fc.constantFrom("a", "b"),
  pick: fc.nat(50),
});

describe("flights, however their people come and go", () => {
  it("keep to their rules", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 60, size: "max" }),
        fc.boolean(),
        async (steps, breathe) => {
          const airport = createAirport(createSingleFlight<number>());
          for (const each of steps) {
            await airport.take(each);
            if (breathe) await setImmediate();
          }
          await airport.close();
        },
      ),
      { numRuns: 300 },
    );
  });
});

/** The model: works and waiters by key, told what must be so after every step. */
const createAirport = (flights: SingleFlight<number>) => {
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
    const outcome = flights.run(key, start, controller.signal).catch((reason: unknown) => ({ reason }));
    await setImmediate();
    expect(started, "started only when none was under way").to.have.length(running ? 0 : 1);
    const work = (running ?? started[0]) as Work;
    const waiter = { controller, outcome, work, led: running === undefined };
    current.set(key, work);
    work.waiters.add(waiter);
    all.push(waiter);
  };

  const leave = async (key: string, work: Work, pick: number): Promise<void> => {
    const waiter = [...work.waiters][pick % work.waiters.size] as Waiter;
    const reason = new Error("leaves");
    waiter.controller.abort(reason);
    expect(await waiter.outcome).to.deep.equal({ reason });
    work.waiters.delete(waiter);
    expect(work.signal.aborted, "aborted when the last has left").to.equal(work.waiters.size === 0);
    if (work.waiters.size > 0) return;
    expect(work.signal.reason).to.equal(reason);
    current.delete(key);
  };

  const end = async (key: string, work: Work, well: boolean): Promise<void> => {
    const failure = new Error("fails");
    if (well) work.resolve(work.id);
    else work.reject(failure);
    for (const { outcome, led } of work.waiters) {
      expect(await outcome).to.deep.equal(well ? { value: work.id, leader: led } : { reason: failure });
    }
    expect(work.signal.aborted).to.equal(false);
    current.delete(key);
  };

  return {
    take: async ({ do: what, key, pick }: Step): Promise<void> => {
      const work = current.get(key);
      if (what === "join") await join(key);
      else if (work && what === "leave") await leave(key, work, pick);
      else if (work) await end(key, work, what === "land");
    },
    close: async (): Promise<void> => {
      for (const [key, work] of current) await end(key, work, true);
      expect(flights.size()).to.equal(0);
      for (const { led, outcome, work } of all) {
        const told = await outcome;
        if ("value" in told) expect(told).to.deep.equal({ value: work.id, leader: led });
      }
    },
  };
};
