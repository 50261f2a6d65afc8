import { expect } from "chai";
import { createWorkerShares } from "../../src/workers/limit-shares.ts";
import { createManualTime } from "../support/manual-time.ts";
import { createDividedService, isRefused } from "./divided-service.ts";

describe("limits that workers hold together", () => {
  let service: ReturnType<typeof createDividedService>;
  const join = () => service.join();

  beforeEach(() => {
    service = createDividedService({ atMost: 10 });
  });

  it("give one worker the whole limit if the others use nothing of it", async () => {
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
    service.time.advance(20);
    await two.acquire();
    service.time.advance(20);
    for (const worker of [one, two, three]) expect(await isRefused(worker.acquire())).to.equal(true);
  });

  it("can be used by any worker, even if they are below the number of workers", async () => {
    service = createDividedService({ atMost: 1 });
    const workers = [join(), join(), join()];
    for (const worker of workers) {
      const release = await worker.acquire();
      for (const other of workers) expect(await isRefused(other.acquire())).to.equal(true);
      release();
      service.time.advance(20);
    }
  });

  it("free what a worker held when it has ended, and give its shares to the next one", async () => {
    const [one, two] = [join(), join(), join()];
    for (let count = 0; count < 10; count++) await one.acquire();
    const next = join();
    expect(await isRefused(next.acquire())).to.equal(true);
    one.end();
    service.time.advance(20);
    for (let count = 0; count < 5; count++) await next.acquire();
    for (let count = 0; count < 5; count++) await two.acquire();
    service.time.advance(20);
    for (const worker of [next, two]) expect(await isRefused(worker.acquire())).to.equal(true);
  });

  it("continue without a worker that does not respond", async () => {
    const [one] = [join(), join()];
    service.division.serve({ call: () => new Promise(() => {}), post: () => {} }).begin();
    for (let count = 0; count < 3; count++) await one.acquire();
    const more = Array.from({ length: 4 }, () => one.acquire());
    const tick = setInterval(() => service.time.advance(100), 1);
    await Promise.all(more);
    expect(await isRefused(one.acquire())).to.equal(true);
    clearInterval(tick);
  });

  it("admit as many concurrent requests as they allow, whichever workers get them", async () => {
    const workers = [join(), join(), join()];
    for (const shares of [
      [30, 10, 0],
      [20, 10, 10],
      [0, 40, 0],
    ]) {
      const attempts = workers.flatMap((worker, index) =>
        Array.from({ length: shares[index] ?? 0 }, () => worker.acquire()),
      );
      const admitted = (await Promise.allSettled(attempts)).filter(({ status }) => status === "fulfilled");
      expect(admitted).to.have.length(10);
      for (const one of admitted) if (one.status === "fulfilled") one.value();
      service.time.advance(1_000);
    }
  });

  it("cost few questions while a key exceeds its limit, and admit again soon after a release", async () => {
    const [one, two] = [join(), join(), join()];
    const release = await two.acquire();
    for (let count = 0; count < 9; count++) await one.acquire();
    const before = one.asks();
    for (let ms = 0; ms < 1_000; ms++) {
      expect(await isRefused(one.acquire())).to.equal(true);
      service.time.advance(1);
    }
    expect(one.asks() - before).to.be.at.most(10);
    release();
    service.time.advance(320);
    await one.acquire();
  });

  it("are divided for at most 50,000 keys at once, and for others when these are idle", async () => {
    const { time, division } = service;
    const granted: { key: string; units: number }[] = [];
    const { handlers, begin } = division.serve({
      call: async () => 3 as never, // it returns 3 of the 6 units of each key
      post: (kind, request) => {
        if (kind === "grantShare") granted.push(request as never);
      },
    });
    begin();
    const ask = (key: string): void =>
      void handlers.askForShare({ limit: "burst", key, atMost: 10, wanted: 1 });
    for (let key = 0; key <= 50_000; key++) ask(String(key));
    expect(granted[0]).to.include({ key: "50000", units: 0, isUsedUp: true });
    await new Promise(setImmediate);
    expect(granted.filter(({ units }) => units > 0)).to.have.length(50_000);
    time.advance(60_000);
    await division.forgetIdle();
    ask("another");
    await new Promise(setImmediate);
    expect(granted.at(-1)).to.include({ key: "another" });
    expect(granted.at(-1)?.units).to.be.above(0);
  });
});

describe("the shares of a worker", () => {
  const open = (of: "key" | "client", used: () => number) => {
    const time = createManualTime();
    let asks = 0;
    const port = { post: () => void asks++ };
    const { open: openShares, handlers } = createWorkerShares({ workers: 3, now: time.now, port });
    handlers.haveShares([]);
    return { time, handlers, shares: openShares("a limit", of, used), asks: () => asks };
  };
  const limited = { limit: "a limit", key: "k", atMost: 9 };

  it("give a released unit to an attempt that waits, rather than to the worker for which it is recalled", () => {
    let used = 3;
    const { shares, handlers } = open("key", () => used);
    shares.more("k", 9)?.(() => used++);
    used--;
    expect(handlers.recallShare({ ...limited, keep: 0 })).to.equal(0);
    expect(used).to.equal(3);
  });

  it("return their unused units when they are recalled, and none at a second recall", () => {
    const { shares, handlers } = open("key", () => 1);
    expect(handlers.recallShare({ ...limited, keep: 0 })).to.equal(2);
    expect(handlers.recallShare({ ...limited, keep: 0 })).to.equal(0);
    handlers.grantShare({ ...limited, units: 4, isUsedUp: false });
    expect(shares.of("k", 9)).to.equal(5);
  });

  it("count what is used beyond them when they are recalled", () => {
    const { handlers } = open("key", () => 5);
    expect(handlers.recallShare({ ...limited, keep: 0 })).to.equal(-2);
  });

  it("are the usual ones again after a change of the limit", () => {
    const { shares, handlers } = open("key", () => 0);
    handlers.grantShare({ ...limited, units: 5, isUsedUp: false });
    expect([shares.of("k", 9), shares.of("k", 3)]).to.deep.equal([8, 1]);
  });

  it("ask for all attempts that wait at once", () => {
    const { shares, handlers, asks } = open("key", () => 3);
    let retries = 0;
    for (let count = 0; count < 50; count++) shares.more("k", 9)?.(() => retries++);
    expect(asks()).to.equal(1);
    handlers.grantShare({ ...limited, units: 0, isUsedUp: true });
    expect([asks(), retries]).to.deep.equal([1, 50]);
    expect(shares.more("k", 9)).to.equal(undefined);
  });

  it("ask at most 100 times a second for clients without credentials, however many there are", () => {
    const { shares, time, asks } = open("client", () => 3);
    const attempts = () => {
      for (let client = 0; client < 1_000; client++) shares.more(`${time.now()} ${client}`, 9)?.(() => {});
    };
    attempts();
    expect(asks()).to.equal(100);
    time.advance(1_000);
    attempts();
    expect(asks()).to.equal(200);
  });
});
