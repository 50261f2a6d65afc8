import { expect } from "chai";
import { rate, reportingInstances } from "../../projections/rate.ts";
import { createProjectionRunner, type ProjectionRunner } from "../../projections/runner/runner.ts";
import { keyNumberOf, PerKey } from "../../src/domain/accounts/key-numbers.ts";
import { freePlan, type Plan } from "../../src/domain/accounts/plan.ts";
import {
  type EventStore,
  EventStoreUnavailable,
  type RecordedEvent,
} from "../../src/eventstore/event-store.ts";
import {
  createRateLimiter,
  type LimitedKey,
  type RateLimiter,
  type RateLimiterOptions,
} from "../../src/limits/rate-limiter.ts";
import { RateReports, type ReportedCounter } from "../../src/limits/rate-reports.ts";
import { collect } from "../support/collect.ts";
import { until } from "../support/manual-time.ts";
import { openTemporaryStore, type TemporaryStore } from "../support/temporary-store.ts";

const aMinute = Date.parse("2026-11-21T10:00:00.000Z");
const limited = (apiKey: string, plan: Plan): LimitedKey => ({
  apiKey,
  keyNumber: keyNumberOf(apiKey),
  plan,
});
const roomy: Plan = { tier: "enterprise", requestsPerMinute: 30, monthlyCharacters: null };

describe("the per-minute limit", () => {
  let temporary: TemporaryStore;
  let now = aMinute;
  const closing: (() => Promise<void>)[] = [];

  /** An instance that reports on demand instead of on a timer. */
  const instance = async (
    name: string,
    options: Partial<RateLimiterOptions> = {},
  ): Promise<{ limiter: RateLimiter; runner: ProjectionRunner }> => {
    const { store } = temporary;
    const runner = createProjectionRunner({ store, projections: [rate] });
    await runner.start();
    const limiter = createRateLimiter({
      store,
      view: runner.view(rate),
      instance: name,
      clock: () => now,
      burstLimit: 1_000,
      flushMs: 1e8,
      ...options,
    });
    closing.push(limiter.close, runner.close);
    return { limiter, runner };
  };
  const reports = async (name: string): Promise<RecordedEvent[]> =>
    await collect(temporary.store.readStream(`rate-${name}`));
  const lastPosition = async (name = "a"): Promise<number> => (await reports(name)).at(-1)?.position ?? -1;

  beforeEach(async () => {
    now = aMinute;
    temporary = await openTemporaryStore();
  });
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
    await temporary.remove();
  });

  it("admits the plan's requests per minute, reports the remaining ones and refuses the next until the minute ends", async () => {
    const { limiter } = await instance("a");
    now = aMinute + 15_500;
    for (let left = 29; left >= 0; left--) {
      expect(limiter.admit(limited("k", roomy), "ip")).to.deep.equal({ limit: 30, remaining: left });
    }
    const { remaining, refusal } = limiter.admit(limited("k", roomy), "ip");
    expect(remaining).to.equal(0);
    expect(refusal).to.include({ kind: "minute", retryAfterSeconds: 45 });
  });

  it("resets in the next minute", async () => {
    const { limiter } = await instance("a");
    for (let i = 0; i < 31; i++) limiter.admit(limited("k", roomy), "ip");
    now = aMinute + 60_000;
    expect(limiter.admit(limited("k", roomy), "ip")).to.deep.equal({ limit: 30, remaining: 29 });
  });

  it("counts what other instances have reported", async () => {
    const [a, b] = [await instance("a"), await instance("b")];
    for (let i = 0; i < 20; i++) a.limiter.admit(limited("k", roomy), "ip");
    await a.limiter.flush();
    await b.runner.waitForPosition(await lastPosition());
    expect(b.limiter.admit(limited("k", roomy), "ip").remaining).to.equal(9);
    expect(b.limiter.admit(limited("another", roomy), "ip").remaining).to.equal(29);
  });

  it("does not count its own requests twice when it reads its own report", async () => {
    const { limiter, runner } = await instance("a");
    for (let i = 0; i < 10; i++) limiter.admit(limited("k", roomy), "ip");
    await limiter.flush();
    await runner.waitForPosition(await lastPosition());
    expect(limiter.admit(limited("k", roomy), "ip").remaining).to.equal(19);
  });

  it("reports all keys in one event, and of them only those that have changed", async () => {
    const { limiter } = await instance("a");
    for (const apiKey of ["k", "l", "k"]) limiter.admit(limited(apiKey, roomy), "ip");
    await limiter.flush();
    await limiter.flush();
    limiter.admit(limited("l", roomy), "ip");
    await limiter.flush();
    const at = new Date(now).toISOString();
    const minute = aMinute / 60_000;
    expect((await reports("a")).map(({ data }) => data)).to.deep.equal([
      { minute, keys: ["k", "l"], counts: [2, 1], at },
      { minute, keys: ["l"], counts: [2], at },
    ]);
  });

  it("splits a report of many keys into events below 64 KB", async () => {
    const [a, b] = [await instance("a"), await instance("b")];
    const keys = Array.from({ length: 2_500 }, (_, n) => `vlk_${String(n).padStart(24, "0")}`);
    for (const apiKey of keys) a.limiter.admit(limited(apiKey, roomy), "ip");
    await a.limiter.flush();
    const events = await reports("a");
    expect(events).to.have.length(3);
    for (const { data } of events) expect(JSON.stringify(data).length).to.be.below(64 * 1024);
    await b.runner.waitForPosition(await lastPosition());
    for (const apiKey of [keys[0], keys[2_499]]) {
      expect(b.limiter.admit(limited(apiKey ?? "", roomy), "ip").remaining).to.equal(28);
    }
  });

  it("reports in every second minute without requests, so that other instances know that it runs", async () => {
    const { limiter } = await instance("a");
    const other = await instance("b");
    for (let minutes = 0; minutes < 5; minutes++) {
      now = aMinute + minutes * 60_000;
      await limiter.flush();
      await limiter.flush();
    }
    const minute = aMinute / 60_000;
    expect((await reports("a")).map(({ data }) => data)).to.deep.equal(
      [2, 4].map((after) => ({
        minute: minute + after,
        keys: [],
        counts: [],
        at: new Date(aMinute + after * 60_000).toISOString(),
      })),
    );
    await other.runner.waitForPosition(await lastPosition());
    const [shown, ...none] = reportingInstances(other.runner.view(rate), Date.now());
    expect([shown?.instance, none]).to.deep.equal(["a", []]);
  });

  it("repeats a failed or unanswered report within the same minute", async () => {
    let failures: ("before" | "after")[] = ["before", "after"];
    const store: EventStore = {
      ...temporary.store,
      append: async (...append) => {
        const [failure, ...others] = failures;
        failures = others;
        if (failure === "before") throw new EventStoreUnavailable("cut before");
        const result = await temporary.store.append(...append);
        if (failure === "after") throw new EventStoreUnavailable("cut after");
        return result;
      },
    };
    const [a, b] = [await instance("a", { store }), await instance("b")];
    for (let i = 0; i < 5; i++) a.limiter.admit(limited("k", roomy), "ip");
    for (let i = 0; i < 3; i++) await a.limiter.flush();
    await b.runner.waitForPosition(await lastPosition());
    expect(b.limiter.admit(limited("k", roomy), "ip").remaining).to.equal(24);
  });

  it("does not report the requests of a minute that is over", async () => {
    const { limiter } = await instance("a");
    limiter.admit(limited("k", roomy), "ip");
    now += 60_000;
    await limiter.flush();
    expect(await reports("a")).to.deep.equal([]);
  });

  it("deletes the counters of keys that sent nothing in the last two minutes", async () => {
    const counter = { count: 1, isChanged: false };
    const minute = aMinute / 60_000;
    const counters = new PerKey<ReportedCounter>();
    for (const age of [0, 1, 2])
      counters.set(age, { apiKey: `k${age}`, keyNumber: age, minute: minute - age, ...counter });
    const { store } = temporary;
    const options = {
      store,
      stream: "rate-a",
      clock: () => now,
      flushMs: 1e8,
      deadlineMs: 1e8,
      onError: () => {},
    };
    const reports = new RateReports(counters, options);
    closing.push(() => reports.close());
    await reports.flush();
    await until(() => [...counters].length === 2);
    expect([...counters].map(({ apiKey }) => apiKey)).to.deep.equal(["k0", "k1"]);
  });

  it("does not repeat a failed report after its minute", async () => {
    const { store } = temporary;
    const failing = Promise.withResolvers<never>();
    let attempts = 0;
    const append: EventStore["append"] = (...all) =>
      attempts++ === 0 ? failing.promise : store.append(...all);
    const { limiter } = await instance("a", { store: { ...store, append } });
    for (const apiKey of ["k", "l"]) limiter.admit(limited(apiKey, roomy), "ip");
    const failed = limiter.flush();
    now += 60_000;
    limiter.admit(limited("l", roomy), "ip");
    failing.reject(new EventStoreUnavailable("down"));
    await failed;
    await limiter.flush();
    expect((await reports("a")).map(({ data }) => data)).to.deep.equal([
      { minute: aMinute / 60_000 + 1, keys: ["l"], counts: [1], at: new Date(now).toISOString() },
    ]);
  });

  it("aborts a report to which the store does not respond, and repeats it", async () => {
    let hangs = true;
    const troubles: string[] = [];
    const store: EventStore = {
      ...temporary.store,
      append: (...append) => (hangs ? new Promise<never>(() => {}) : temporary.store.append(...append)),
    };
    const onError = (what: string) => troubles.push(what);
    const { limiter } = await instance("a", { store, deadlineMs: 300, onError });
    limiter.admit(limited("k", roomy), "ip");
    const keepAlive = setTimeout(() => {}, 60_000); // the deadline's timer is unreferenced
    await limiter.flush();
    clearTimeout(keepAlive);
    expect(troubles).to.have.length(1);
    hangs = false;
    // On a busy machine the deadline may pass again.
    do await limiter.flush();
    while ((await reports("a")).length === 0);
    for (const { data } of await reports("a")) expect(data).to.deep.include({ keys: ["k"], counts: [1] });
  });

  it("logs failing reports once until one succeeds", async () => {
    let isDown = true;
    const store: EventStore = {
      ...temporary.store,
      append: async (...append) => {
        if (isDown) throw new EventStoreUnavailable("down");
        return await temporary.store.append(...append);
      },
    };
    let troubles = 0;
    const { limiter } = await instance("a", { store, onError: () => troubles++ });
    for (const [down, expected] of [
      [true, 1],
      [true, 1],
      [false, 1],
      [true, 2],
    ] as const) {
      isDown = down;
      limiter.admit(limited("k", roomy), "ip");
      await limiter.flush();
      expect(troubles).to.equal(expected);
    }
  });

  it("counts this minute's requests of instances whose clocks are fast or slow", async () => {
    const clocks = { fast: 30_000, right: 0, slow: -30_000 };
    const start = async (name: keyof typeof clocks) =>
      await instance(name, { clock: () => now + clocks[name] });
    const [fast, right, slow] = [await start("fast"), await start("right"), await start("slow")];
    const requests = async () => {
      for (const { limiter } of [fast, slow]) {
        limiter.admit(limited("k", roomy), "ip");
        await limiter.flush();
      }
      for (const name of ["fast", "slow"]) await right.runner.waitForPosition(await lastPosition(name));
    };
    now = aMinute + 10_000; // slow: the minute before
    await requests();
    expect(right.limiter.admit(limited("k", roomy), "ip").remaining).to.equal(28);
    now = aMinute + 40_000; // fast: the next minute
    await requests();
    expect(right.limiter.admit(limited("k", roomy), "ip").remaining).to.equal(26);
    now = aMinute + 70_000; // the next minute, in which fast has counted one already
    await requests();
    expect(right.limiter.admit(limited("k", roomy), "ip").remaining).to.equal(27);
  });

  it("sets the maximum age of its stream once", async () => {
    const retentions: unknown[] = [];
    const store: EventStore = {
      ...temporary.store,
      setRetention: async (...retention) => void retentions.push(retention),
    };
    const { limiter } = await instance("a", { store });
    for (let i = 0; i < 3; i++) {
      limiter.admit(limited("k", roomy), "ip");
      await limiter.flush();
    }
    expect(retentions).to.deep.equal([["rate-a", { maxAgeSeconds: 180 }]]);
  });

  it("reports no remaining requests when it refuses because other workers have used them up", async () => {
    const openShares = () => ({ of: () => 10, more: () => undefined });
    const { limiter } = await instance("a", { openShares });
    const admissions = Array.from({ length: 11 }, () => limiter.admit(limited("k", roomy), "ip"));
    const { remaining, refusal } = admissions[10] ?? {};
    expect(refusal).to.include({ kind: "minute" });
    expect(remaining).to.equal(0);
  });

  describe("and the burst check", () => {
    const time = { ms: 0, now: () => time.ms };
    const bursting = async () => (await instance("a", { burstLimit: undefined, time })).limiter;

    it("does not count requests that the burst check refuses, and still reports the remaining ones", async () => {
      const limiter = await bursting();
      const admissions = Array.from({ length: 25 }, () => limiter.admit(limited("k", freePlan), "ip"));
      expect(admissions.filter(({ refusal }) => refusal === undefined)).to.have.length(20);
      expect(admissions[24]).to.deep.include({ limit: 100, remaining: 80 });
      expect(admissions[24]?.refusal).to.include({ kind: "burst" });
    });

    it("admits the same request after the Retry-After time", async () => {
      const limiter = await bursting();
      const refused = Array.from({ length: 21 }, () => limiter.admit(limited("k", freePlan), "ip")).at(-1);
      time.ms += (refused?.refusal?.retryAfterSeconds ?? 0) * 1_000;
      expect(limiter.admit(limited("k", freePlan), "ip").refusal).to.equal(undefined);
    });

    it("refuses by the per-minute limit when that is exhausted", async () => {
      const limiter = await bursting();
      const few: Plan = { ...roomy, requestsPerMinute: 20 };
      const admissions = Array.from({ length: 30 }, () => limiter.admit(limited("k", few), "ip"));
      for (const { remaining, refusal } of admissions.slice(20)) {
        expect(remaining).to.equal(0);
        expect(refusal).to.include({ kind: "minute", retryAfterSeconds: 60 });
      }
    });

    const clients = ["first", "second", "third"];
    const orders = {
      "in turns": clients.flatMap(() => clients).flatMap((client) => new Array<string>(9).fill(client)),
      "one after another": clients.flatMap((client) => new Array<string>(27).fill(client)),
    };
    for (const [order, requests] of Object.entries(orders)) {
      it(`counts each client of a key separately, ${order}`, async () => {
        const limiter = await bursting();
        const refused = requests.filter((client) => limiter.admit(limited("k", freePlan), client).refusal);
        expect(refused.toSorted()).to.deep.equal(clients.flatMap((client) => new Array(7).fill(client)));
      });
    }

    it("treats the addresses of one IPv6 network as one client", async () => {
      const limiter = await bursting();
      const admissions = Array.from({ length: 21 }, (_, i) =>
        limiter.admit(limited("k", freePlan), `2001:db8::${i}`),
      );
      expect(admissions[20]?.refusal).to.include({ kind: "burst" });
      expect(limiter.admit(limited("k", freePlan), "2001:db8:0:1::1").refusal).to.equal(undefined);
    });
  });
});
