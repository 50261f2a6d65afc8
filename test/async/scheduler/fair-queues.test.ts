import { expect } from "chai";
import fc from "fast-check";
import { FairQueues, type QueuedJob } from "../../../src/async/scheduler/fair-queues.ts";

interface Job extends QueuedJob {
  readonly key: string;
}

const unlimited = Number.POSITIVE_INFINITY;
/** How far first pieces may run ahead, in seconds of speech. */
const lead = 30;
const longest = 20;

const open = ({ concurrencyPerKey = unlimited } = {}) => new FairQueues(concurrencyPerKey, { now: () => 0 });

let jobs = 0;
const jobOf = (key: string, seconds: number, isFirstPiece = false, order = ++jobs): Job => ({
  key,
  sequence: order,
  keys: new Set([key]),
  seconds,
  isFirstPiece,
  queuedAt: 0,
});

interface Random {
  /** A whole number from 0 to `below - 1`. */
  readonly upTo: (below: number) => number;
  readonly seconds: () => number;
}

/** Checks a property with random numbers. */
const check = (property: (random: Random) => void): void =>
  fc.assert(
    fc.property(fc.infiniteStream(fc.nat(999_999)), (numbers) => {
      const upTo = (below: number): number => numbers.next().value % below;
      property({ upTo, seconds: () => 1 + upTo(longest) });
    }),
    { numRuns: 20 },
  );

describe("Fair queues", () => {
  it("gives keys with waiting jobs equal shares, to within one job", () =>
    check(({ upTo, seconds }) => {
      const queues = open();
      const shares = new Map<string, number>();
      const keys = Array.from({ length: 2 + upTo(10) }, (_, index) => `key ${index}`);
      for (const key of keys) for (let job = 0; job < 100; job++) queues.add(jobOf(key, seconds()));
      for (let turn = 0; turn < keys.length * 50; turn++) {
        const { job, key, end } = queues.take<Job>(false) ?? expect.fail("a job waits");
        shares.set(key, (shares.get(key) ?? 0) + job.seconds);
        end();
        const all = keys.map((one) => shares.get(one) ?? 0);
        expect(Math.max(...all) - Math.min(...all)).to.be.at.most(longest);
      }
    }));

  it("lets first pieces run ahead of the share of others by a bound", () =>
    check(({ seconds }) => {
      const queues = open();
      for (let job = 0; job < 200; job++) {
        queues.add(jobOf("long", longest));
        queues.add(jobOf("short", seconds(), true));
      }
      const shares = { long: 0, short: 0 };
      for (let turn = 0; turn < 200; turn++) {
        const { job, key, end } = queues.take<Job>(false) ?? expect.fail("a job waits");
        shares[key as keyof typeof shares] += job.seconds;
        end();
        expect(shares.short - shares.long).to.be.at.most(lead + longest);
        expect(shares.long - shares.short).to.be.at.most(longest);
      }
    }));

  it("is work-conserving, loses no job and forgets every key", () =>
    check(({ upTo, seconds }) => {
      const queues = open({ concurrencyPerKey: 2 });
      const waiting = new Set<Job>();
      const running: { readonly key: string; readonly end: () => void }[] = [];
      const heldBy = (key: string) => running.filter((one) => one.key === key).length;
      const actions = [
        () => {
          const job = jobOf(`key ${upTo(6)}`, seconds(), upTo(2) === 0);
          waiting.add(job);
          queues.add(job);
        },
        () => {
          const [job] = [...waiting].filter(() => upTo(3) === 0);
          if (!job) return;
          waiting.delete(job);
          queues.remove(job);
        },
        () => {
          const mayRun = [...waiting].some(({ key }) => heldBy(key) < 2);
          const next = queues.take<Job>(false);
          expect(next !== undefined).to.equal(mayRun);
          if (!next) return;
          expect(waiting.delete(next.job)).to.equal(true);
          running.push(next);
        },
        () => {
          const [job] = running.splice(upTo(running.length || 1), 1);
          job?.end();
        },
      ];
      for (let step = 0; step < 2000; step++) actions[upTo(actions.length)]?.();
      for (const job of waiting) queues.remove(job);
      for (const { end } of running) end();
      expect(queues.size()).to.equal(0);
    }));

  it("serves a waiting job although new keys with first pieces arrive without end", () => {
    const queues = open();
    queues.add(jobOf("old", longest));
    queues.take(false);
    queues.add(jobOf("old", longest));
    let turns = 0;
    for (let key = ""; key !== "old"; turns++) {
      expect(turns).to.be.below(100);
      queues.add(jobOf(`new ${turns}`, 2, true));
      const next = queues.take<Job>(false) ?? expect.fail("a job waits");
      next.end();
      key = next.key;
    }
  });

  it("serves later pieces of one key's oldest response first, whatever the order of their arrival", () => {
    const queues = open();
    for (const order of [3, 1, 2, 1, 3]) queues.add(jobOf("key", 2, false, order));
    const served = Array.from({ length: 5 }, () => queues.take<Job>(false)?.job.sequence);
    expect(served).to.deep.equal([1, 1, 2, 3, 3]);
  });

  it("alternates between first and later pieces of one key", () => {
    const queues = open();
    for (const isFirstPiece of [false, false, true, true]) queues.add(jobOf("a", 5, isFirstPiece));
    const order = [1, 2, 3, 4].map(() => queues.take<Job>(false)?.job.isFirstPiece);
    expect(order).to.deep.equal([true, false, true, false]);
  });

  it("gives reserved slots to first pieces of keys with little work only", () => {
    const queues = open();
    queues.add(jobOf("long", 20, true));
    queues.add(jobOf("later", 2));
    for (let job = 0; job < 10; job++) queues.add(jobOf("many", 2, true));
    expect(queues.take(true)).to.equal(undefined);
    queues.add(jobOf("short", 2, true));
    expect(queues.take<Job>(true)?.key).to.equal("short");
  });

  it("charges a job to one of its keys and removes it from the queues of the others", () => {
    const queues = open();
    const shared: Job = { ...jobOf("a", 10), keys: new Set(["a", "b"]) };
    queues.add(shared);
    expect(queues.take<Job>(false)?.job).to.equal(shared);
    expect(queues.take(false)).to.equal(undefined);
    expect(queues.size()).to.equal(1);
  });

  it("serves 10,000 jobs of one key, and of 10,000 keys", () => {
    for (const keyOf of [() => "one", (job: number) => `key ${job}`]) {
      const queues = open();
      for (let job = 0; job < 10_000; job++) queues.add(jobOf(keyOf(job), longest));
      for (let job = 0; job < 10_000; job++) queues.take(false)?.end();
      expect(queues.size()).to.equal(0);
    }
  });

  it("forgets keys that have caught up while others are busy", () => {
    const queues = open();
    for (let job = 0; job < 20_000; job++) {
      queues.add(jobOf(`visitor ${job}`, 1, true));
      if (job % 10 === 0) queues.add(jobOf("busy", longest));
      const next = queues.take<Job>(false) ?? expect.fail("a job waits");
      next.end();
    }
    expect(queues.size()).to.be.below(2_500);
  });
});
