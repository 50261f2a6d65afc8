import { expect } from "chai";
import { rate } from "../../projections/rate.ts";
import { createProjectionRunner, type ProjectionRunner } from "../../projections/runner.ts";
import {
  createRateLimiter,
  type RateLimiter,
  type RateLimiterOptions,
} from "../../src/application/rate-limiter.ts";
import { Unavailable } from "../../src/domain/errors.ts";
import { freePlan, type Plan } from "../../src/domain/plan.ts";
import { type CommandHandler, createCommandHandler } from "../../src/eventstore/command-handler.ts";
import { openTemporaryStore, type TemporaryStore } from "../support/temporary-store.ts";

const aMinute = Date.parse("2026-11-21T10:00:00.000Z");
const roomy: Plan = { tier: "enterprise", requestsPerMinute: 30, monthlyCharacters: null };

describe("the per-minute limit", () => {
  let temporary: TemporaryStore;
  let now = aMinute;
  const closing: (() => Promise<void>)[] = [];

  /** An instance of its own, whose telling is asked for, not timed. */
  const instance = async (
    name: string,
    options: Partial<RateLimiterOptions> = {},
  ): Promise<{ limiter: RateLimiter; runner: ProjectionRunner }> => {
    const { store } = temporary;
    const runner = createProjectionRunner({ store, projections: [rate] });
    await runner.start();
    const limiter = createRateLimiter({
      handler: createCommandHandler({ store }),
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
  const lastPosition = async (): Promise<number> => {
    let position = -1;
    for await (const event of temporary.store.readStream("rate-k")) position = event.position;
    return position;
  };

  beforeEach(async () => {
    now = aMinute;
    temporary = await openTemporaryStore();
  });
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
    await temporary.remove();
  });

  it("admits as many as the plan has, tells those left, and refuses the next until the minute is over", async () => {
    const { limiter } = await instance("a");
    now = aMinute + 15_500;
    for (let left = 29; left >= 0; left--) {
      expect(limiter.admit("k", roomy, "ip")).to.deep.equal({ limit: 30, remaining: left });
    }
    const { remaining, refusal } = limiter.admit("k", roomy, "ip");
    expect(remaining).to.equal(0);
    expect(refusal).to.include({ kind: "minute", retryAfterSeconds: 45 });
  });

  it("starts anew with the next minute", async () => {
    const { limiter } = await instance("a");
    for (let i = 0; i < 31; i++) limiter.admit("k", roomy, "ip");
    now = aMinute + 60_000;
    expect(limiter.admit("k", roomy, "ip")).to.deep.equal({ limit: 30, remaining: 29 });
  });

  it("counts what other instances have told", async () => {
    const [a, b] = [await instance("a"), await instance("b")];
    for (let i = 0; i < 20; i++) a.limiter.admit("k", roomy, "ip");
    await a.limiter.flush();
    await b.runner.reached(await lastPosition());
    expect(b.limiter.admit("k", roomy, "ip").remaining).to.equal(9);
  });

  it("does not count its own requests twice when it hears of them", async () => {
    const { limiter, runner } = await instance("a");
    for (let i = 0; i < 10; i++) limiter.admit("k", roomy, "ip");
    await limiter.flush();
    await runner.reached(await lastPosition());
    expect(limiter.admit("k", roomy, "ip").remaining).to.equal(19);
  });

  it("tells only what is new", async () => {
    const [a, b] = [await instance("a"), await instance("b")];
    for (let round = 0; round < 3; round++) {
      a.limiter.admit("k", roomy, "ip");
      await a.limiter.flush();
      await a.limiter.flush();
    }
    await b.runner.reached(await lastPosition());
    expect(b.limiter.admit("k", roomy, "ip").remaining).to.equal(26);
  });

  it("tells again, in the same minute, what could not be told", async () => {
    let down = true;
    const handler = createCommandHandler({ store: temporary.store });
    const flaky: CommandHandler = {
      ...handler,
      execute: (...command) => {
        if (down) return Promise.reject(new Unavailable("down", 1));
        return handler.execute(...command);
      },
    };
    const [a, b] = [await instance("a", { handler: flaky }), await instance("b")];
    for (let i = 0; i < 5; i++) a.limiter.admit("k", roomy, "ip");
    await a.limiter.flush();
    down = false;
    a.limiter.admit("k", roomy, "ip");
    await a.limiter.flush();
    await b.runner.reached(await lastPosition());
    expect(b.limiter.admit("k", roomy, "ip").remaining).to.equal(23);
  });

  describe("and the burst check", () => {
    const uptime = { now: 0 };
    const bursting = async () =>
      (await instance("a", { burstLimit: undefined, uptime: () => uptime.now })).limiter;

    it("does not use it up with what it refuses, and shows what is left all the same", async () => {
      const limiter = await bursting();
      const admissions = Array.from({ length: 25 }, () => limiter.admit("k", freePlan, "ip"));
      expect(admissions.filter(({ refusal }) => refusal === undefined)).to.have.length(20);
      expect(admissions[24]).to.deep.include({ limit: 100, remaining: 80 });
      expect(admissions[24]?.refusal).to.include({ kind: "burst" });
    });

    it("lets the same request pass after the time that it tells", async () => {
      const limiter = await bursting();
      const refused = Array.from({ length: 21 }, () => limiter.admit("k", freePlan, "ip")).at(-1);
      uptime.now += (refused?.refusal?.retryAfterSeconds ?? 0) * 1_000;
      expect(limiter.admit("k", freePlan, "ip").refusal).to.equal(undefined);
    });

    it("leaves the refusal to the minute when the minute has nothing left", async () => {
      const limiter = await bursting();
      const few: Plan = { ...roomy, requestsPerMinute: 20 };
      const admissions = Array.from({ length: 30 }, () => limiter.admit("k", few, "ip"));
      for (const { remaining, refusal } of admissions.slice(20)) {
        expect(remaining).to.equal(0);
        expect(refusal).to.include({ kind: "minute", retryAfterSeconds: 60 });
      }
    });

    it("takes the addresses of one IPv6 network for one client", async () => {
      const limiter = await bursting();
      const admissions = Array.from({ length: 21 }, (_, i) => limiter.admit("k", freePlan, `2001:db8::${i}`));
      expect(admissions[20]?.refusal).to.include({ kind: "burst" });
      expect(limiter.admit("k", freePlan, "2001:db8:0:1::1").refusal).to.equal(undefined);
    });
  });
});
