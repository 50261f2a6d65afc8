import { expect } from "chai";
import { createScheduler } from "../../../src/async/scheduler/scheduler.ts";
import { createWaiter } from "../../../src/async/scheduler/waiter.ts";
import { createManualTime } from "../../support/manual-time.ts";

const cores = 2;
const slots = 4;
const tickMs = 5;
const never = new AbortController().signal;

/** Work of one job in milliseconds of one core, and its duration as speech. */
const piece = { workMs: 500, seconds: 20 };
const sentence = { workMs: 60, seconds: 3 };
const textPieces = 17;

interface Crowd {
  /** From the request of each sentence to its end, in milliseconds. */
  readonly sentences: readonly number[];
  /** Work that the cores have done, in milliseconds. */
  readonly workMs: number;
}

type Acquire = (key: string, seconds: number, isContinuation: boolean) => Promise<() => void>;

/**
 * Simulates keys that each keep 64 long texts in flight, and one that asks for a sentence every
 * second. Running jobs share the cores.
 */
const simulate = async (
  open: (now: () => number) => Acquire,
  { keys }: { readonly keys: number },
): Promise<Crowd> => {
  const time = createManualTime();
  const acquire = open(time.now);
  const running = new Set<{ leftMs: number; readonly end: () => void }>();
  const sentences: number[] = [];
  let workMs = 0;

  const run = async (key: string, job: typeof piece, isContinuation: boolean): Promise<void> => {
    const release = await acquire(key, job.seconds, isContinuation);
    await new Promise<void>((end) => running.add({ leftMs: job.workMs, end }));
    release();
  };
  const readAloud = async (key: string): Promise<never> => {
    for (let index = 0; ; index++) await run(key, piece, index % textPieces > 0);
  };
  const ask = async (): Promise<void> => {
    const asked = time.now();
    await run("short", sentence, false);
    sentences.push(time.now() - asked);
  };

  for (let key = 0; key < keys; key++) for (let text = 0; text < 64; text++) void readAloud(`long ${key}`);
  for (let ticks = 0; sentences.length < 60; ticks++) {
    if (ticks % (1_000 / tickMs) === 0) void ask();
    await new Promise(setImmediate);
    const share = tickMs * Math.min(1, cores / running.size);
    time.advance(tickMs);
    for (const job of running) {
      job.leftMs -= share;
      workMs += share;
      if (job.leftMs > 0) continue;
      running.delete(job);
      job.end();
    }
  }
  return { sentences, workMs: workMs / time.now() };
};

const fair = (now: () => number): Acquire => {
  const time = { now, after: () => () => {} };
  const tools = createScheduler({ time }).resource("tools", {
    concurrency: slots,
    reserved: 1,
    queueLimit: 1_000,
    queueLimitPerKey: 64,
    queueTimeoutMs: 10_000,
    keyRetryAfterSeconds: 1,
    overloaded: (scope) => new Error(scope),
  });
  return (key, seconds, isContinuation) =>
    tools.acquire(createWaiter(key, seconds), never, { isContinuation });
};

const firstInFirstOut = (): Acquire => {
  const waiting: (() => void)[] = [];
  let free = slots;
  const release = (): void => {
    const next = waiting.shift();
    if (next) next();
    else free++;
  };
  return async () => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    return release;
  };
};

const percentile95 = (times: readonly number[]): number =>
  [...times].sort((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? 0;

describe("A key with short sentences beside ten keys with 64 long texts each, on a simulated clock", () => {
  let idle: Crowd;
  let crowded: Crowd;
  before(async function () {
    this.timeout(60_000);
    idle = await simulate(fair, { keys: 0 });
    crowded = await simulate(fair, { keys: 10 });
  });

  it("gets its sentences within three times the time that they take on an idle machine", () => {
    expect(percentile95(crowded.sentences)).to.be.at.most(3 * percentile95(idle.sentences));
  });

  it("costs less than a tenth of the throughput without fairness", async () => {
    const unfair = await simulate(firstInFirstOut, { keys: 10 });
    expect(crowded.workMs).to.be.at.least(0.9 * unfair.workMs);
  }).timeout(60_000);
});
