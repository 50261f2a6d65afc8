import { expect } from "chai";
import { createConcurrencyLimit, type Release, refusing } from "../../src/limits/limit.ts";
import { RateLimited, tryWithMore } from "../../src/limits/limits.ts";
import { createLimitDivision } from "../../src/workers/divide-limits.ts";
import { createWorkerShares, type LimitCalls, type ShareCalls } from "../../src/workers/limit-shares.ts";
import { seededRandom } from "../support/eventstoredb-node/index-lag.ts";
import { createManualTime, type ManualTime } from "../support/manual-time.ts";
import { linkedPorts } from "./linked-ports.ts";

const seed = Number(process.env.TEST_SEED ?? 1);

describe("limits that workers hold together", () => {
  let time: ManualTime;
  let division: ReturnType<typeof createLimitDivision>;

  beforeEach(() => {
    time = createManualTime();
    division = createLimitDivision({ workers: 3, time });
  });

  const join = (atMost = 10) => {
    const ports = linkedPorts<ShareCalls, LimitCalls>();
    const shares = createWorkerShares({
      workers: 3,
      now: time.now,
      port: { call: (kind, request) => worker.call(kind, request) },
    });
    const worker = ports.worker(shares.handlers);
    const served = division.serve({
      call: (kind, request) => primary.call(kind, request),
      post: (kind, request) => primary.post(kind, request),
    });
    const primary = ports.primary(served.handlers);
    const limit = createConcurrencyLimit(atMost, (used) => shares.open("streams", used));
    const refusal = (more?: () => Promise<void>) => new RateLimited("too many", "streams", 1, more);
    const { acquire } = refusing(limit, refusal);
    served.begin();
    return {
      acquire: (key = "a key"): Promise<Release> => tryWithMore(() => acquire(key)),
      end: () => {
        primary.close();
        served.end();
      },
    };
  };

  const isRefused = (attempt: Promise<Release>): Promise<boolean> =>
    attempt.then(
      () => false,
      (error) => error instanceof RateLimited,
    );

  it("give one worker all of a limit that the others do not use", async () => {
    const [one] = [join(), join(), join()];
    for (let count = 0; count < 10; count++) await one.acquire();
    expect(await isRefused(one.acquire())).to.equal(true);
  });

  it("refuse a worker what the others use", async () => {
    const [one, two, three] = [join(), join(), join()];
    for (let count = 0; count < 4; count++) await one.acquire();
    for (let count = 0; count < 5; count++) await two.acquire();
    const release = await three.acquire();
    for (const worker of [one, two, three]) expect(await isRefused(worker.acquire())).to.equal(true);
    release();
    time.advance(20);
    await two.acquire();
    time.advance(20);
    for (const worker of [one, two, three]) expect(await isRefused(worker.acquire())).to.equal(true);
  });

  it("allow a limit below the number of workers to any of them", async () => {
    const workers = [join(1), join(1), join(1)];
    for (const worker of workers) {
      const release = await worker.acquire();
      for (const other of workers) expect(await isRefused(other.acquire())).to.equal(true);
      release();
      time.advance(20);
    }
  });

  it("free what a worker held when it has ended, and give its shares to the next one", async () => {
    const [one, two] = [join(), join(), join()];
    for (let count = 0; count < 10; count++) await one.acquire();
    const next = join();
    expect(await isRefused(next.acquire())).to.equal(true);
    one.end();
    time.advance(20);
    for (let count = 0; count < 5; count++) await next.acquire();
    for (let count = 0; count < 5; count++) await two.acquire();
    time.advance(20);
    for (const worker of [next, two]) expect(await isRefused(worker.acquire())).to.equal(true);
  });

  it("continue without a worker that does not respond", async () => {
    const [one] = [join(), join()];
    division.serve({ call: () => new Promise(() => {}), post: () => {} }).begin();
    for (let count = 0; count < 3; count++) await one.acquire();
    const more = Array.from({ length: 4 }, () => one.acquire());
    const tick = setInterval(() => time.advance(100), 1);
    await Promise.all(more);
    expect(await isRefused(one.acquire())).to.equal(true);
    clearInterval(tick);
  });

  it(`never count more than the limit, and refuse only when it is reached, in any order (seed ${seed})`, async () => {
    const random = seededRandom(seed);
    const pick = (count: number): number => Math.floor(random() * count);
    const workers = [join(), join(), join()];
    const keys = ["one", "two"];
    const held = new Map(keys.map((key) => [key, [] as Release[]]));
    for (let round = 0; round < 300; round++) {
      const key = keys[pick(2)] as string;
      const mine = held.get(key) as Release[];
      if (random() < 0.4) for (const release of mine.splice(0, pick(4))) release();
      if (random() < 0.1) {
        workers.splice(pick(3), 1)[0]?.end();
        for (const releases of held.values()) releases.length = 0; // counted below only by those that run
        for (const worker of workers.splice(0)) worker.end();
        workers.push(join(), join(), join());
      }
      time.advance(pick(2) * 30_000 + 20);
      await division.forgetIdle();
      const wanted = 1 + pick(5);
      const attempts = Array.from({ length: wanted }, () => workers[pick(3)]?.acquire(key));
      const settled = await Promise.allSettled(attempts);
      for (const one of settled) if (one.status === "fulfilled" && one.value) mine.push(one.value);
      expect(mine.length, `round ${round}`).to.be.at.most(10);
      const isAnyRefused = settled.some(({ status }) => status === "rejected");
      if (isAnyRefused) expect(mine.length, `round ${round}`).to.equal(10);
    }
  });
});
