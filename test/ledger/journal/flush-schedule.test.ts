import { expect } from "chai";
import { FlushSchedule } from "../../../src/ledger/journal/flush-schedule.ts";
import { createManualTime, type ManualTime } from "../../support/manual-time.ts";

describe("the schedule of a journal's flushes", () => {
  let time: ManualTime;
  let started: number;
  let schedule: FlushSchedule;

  beforeEach(() => {
    time = createManualTime();
    started = 0;
    schedule = new FlushSchedule(time, () => {
      started += 1;
    });
  });

  /** Appends a flush. Returns whether the next one is delayed. */
  const append = ({ completed = 16, ms = 8, waiting = 0 }): boolean => {
    schedule.sent();
    time.advance(ms);
    return schedule.delayNext({ completed, waiting });
  };

  const delayAfter = (ms: number): number => {
    if (!append({ ms })) return 0;
    const begin = time.now();
    const before = started;
    while (started === before) time.advance(0.25);
    return time.now() - begin;
  };

  it("takes all of fewer than 32 servings in progress, and half of more", () => {
    append({ ms: 1 });
    expect(schedule.maxServings(15)).to.equal(31);
    expect(schedule.maxServings(16)).to.equal(16);
    expect(schedule.maxServings(85)).to.equal(51);
  });

  it("takes all of fewer than 64 servings in progress if other processes write, too", () => {
    schedule = new FlushSchedule(time, () => {}, 2);
    append({ ms: 1 });
    expect(schedule.maxServings(47)).to.equal(63);
    expect(schedule.maxServings(48)).to.equal(32);
  });

  it("takes all of fewer than 256 servings in progress after a long append, and half of more", () => {
    append({ completed: 128, ms: 4 });
    expect(schedule.maxServings(127)).to.equal(255);
    expect(schedule.maxServings(128)).to.equal(128);
  });

  it("delays a flush by half of a long append's duration, at most 5 ms", () => {
    expect([0, 1, 3.75, 4, 8, 10, 12, 30_000].map(delayAfter)).to.deep.equal([0, 0, 0, 2, 4, 5, 5, 5]);
  });

  it("creates no timer after a short append", () => {
    expect(append({ ms: 3.75 })).to.equal(false);
    expect(time.waiting()).to.equal(0);
  });

  it("delays a flush for 1 ms after a short append if other processes write, too", () => {
    schedule = new FlushSchedule(time, () => (started += 1), 2);
    expect(append({ completed: 3, ms: 0.5 })).to.equal(false);
    expect(append({ completed: 4, ms: 0.5, waiting: 4 })).to.equal(true);
    expect(schedule.isDelayed(7)).to.equal(true);
    expect(schedule.isDelayed(8)).to.equal(false);
    expect(started).to.equal(0);
    time.advance(1);
    expect(started).to.equal(1);
  });

  it("does not delay servings after an append that completed none", () => {
    expect(append({ completed: 0, waiting: 3 })).to.equal(false);
    expect(time.waiting()).to.equal(0);
  });

  it("ends the delay when as many servings wait as were in progress", () => {
    expect(append({ completed: 12, waiting: 4 })).to.equal(true);
    expect(schedule.isDelayed(15)).to.equal(true);
    expect(schedule.isDelayed(16)).to.equal(false);
  });

  it("ends the delay when half of 256 or more servings in progress wait", () => {
    expect(append({ completed: 156, waiting: 100 })).to.equal(true);
    expect(schedule.isDelayed(127)).to.equal(true);
    expect(schedule.isDelayed(128)).to.equal(false);
    expect(append({ completed: 128, waiting: 128 })).to.equal(false);
  });

  it("starts a delayed flush when the delay has passed", () => {
    append({ ms: 8 });
    time.advance(3.75);
    expect(started).to.equal(0);
    expect(schedule.isDelayed(0)).to.equal(true);
    time.advance(0.25);
    expect(started).to.equal(1);
    expect(schedule.isDelayed(0)).to.equal(false);
  });

  it("does not start a second flush if one was sent during the delay", () => {
    append({ ms: 8 });
    schedule.sent();
    expect(time.waiting()).to.equal(0);
    expect(schedule.isDelayed(0)).to.equal(false);
  });
});
