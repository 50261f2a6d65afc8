import { expect } from "chai";
import { afterErrors, exponentialBackoff, retry } from "../../src/async/retry.ts";
import { sleep } from "../../src/async/sleep.ts";
import { createManualTime, type ManualTime, until } from "../support/manual-time.ts";
import { rejection } from "../support/rejection.ts";

const failure = new Error("failure");

describe("Sleep", () => {
  it("resolves when its time has passed, and leaves no listener behind", async () => {
    const time = createManualTime();
    const { signal } = new AbortController();
    const slept = sleep(100, { time, signal });
    time.advance(100);
    await slept;
  });

  it("rejects with the signal's reason at once, and cancels its timer", async () => {
    const time = createManualTime();
    const controller = new AbortController();
    const slept = rejection(sleep(100, { time, signal: controller.signal }));
    controller.abort(failure);
    expect(await slept).to.equal(failure);
    expect(time.waiting()).to.equal(0);
    expect(await rejection(sleep(100, { time, signal: controller.signal }))).to.equal(failure);
  });
});

describe("Retry", () => {
  let time: ManualTime;
  let attempts: number;
  const failTwice = async () => {
    if (++attempts <= 2) throw failure;
    return attempts;
  };

  beforeEach(() => {
    time = createManualTime();
    attempts = 0;
  });

  it("repeats a failed task after each delay until it succeeds", async () => {
    const delayAfter = (outcome: object, attempt: number) => ("error" in outcome ? attempt * 100 : undefined);
    const result = retry({ time, delayAfter }, failTwice);
    for (const ms of [100, 200]) {
      await until(() => time.waiting() === 1);
      time.advance(ms);
    }
    expect(await result).to.equal(3);
  });

  it("repeats after transient errors, with growing delays, up to a number of attempts", () => {
    const delayAfter = afterErrors((error) => error === failure, {
      firstMs: 100,
      maxMs: 150,
      maxAttempts: 3,
      random: () => 1,
    });
    expect([1, 2, 3].map((attempt) => delayAfter({ error: failure }, attempt))).to.deep.equal([
      100,
      150,
      undefined,
    ]);
    expect(delayAfter({ error: new Error("permanent") }, 1)).to.equal(undefined);
    expect(delayAfter({ value: "done" }, 1)).to.equal(undefined);
  });

  it("throws the last error when there is no further delay", async () => {
    expect(await rejection(retry({ time, delayAfter: () => undefined }, failTwice))).to.equal(failure);
    expect(attempts).to.equal(1);
  });

  it("can repeat a task that succeeded with an unsuitable result", async () => {
    const delayAfter = (_outcome: object, attempt: number) => (attempt < 3 ? 0 : undefined);
    const result = retry({ time, delayAfter }, async () => ++attempts);
    for (let delays = 0; delays < 2; delays++) {
      await until(() => time.waiting() === 1);
      time.advance(0);
    }
    expect(await result).to.equal(3);
  });

  it("ends with the signal's reason when it is aborted during a delay", async () => {
    const controller = new AbortController();
    const reason = new Error("aborted");
    const result = rejection(retry({ time, signal: controller.signal, delayAfter: () => 100 }, failTwice));
    await until(() => time.waiting() === 1);
    controller.abort(reason);
    expect(await result).to.equal(reason);
  });
});

describe("Exponential back-off", () => {
  it("doubles the delay up to its maximum, half of it at random", () => {
    const delays = (random: () => number) =>
      [1, 2, 3, 4].map((attempt) => exponentialBackoff({ firstMs: 100, maxMs: 500 }, attempt, random));
    expect(delays(() => 1)).to.deep.equal([100, 200, 400, 500]);
    expect(delays(() => 0)).to.deep.equal([50, 100, 200, 250]);
  });
});
