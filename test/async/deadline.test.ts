import { getEventListeners } from "node:events";
import { expect } from "chai";
import { withDeadline } from "../../src/async/deadline.ts";
import { createManualTime, type ManualTime } from "../support/manual-time.ts";
import { rejection } from "../support/rejection.ts";

const late = new Error("late");
const onTimeout = () => late;

describe("Deadline", () => {
  let time: ManualTime;
  let taskSignal: AbortSignal;
  const hang = (signal: AbortSignal): Promise<never> => {
    taskSignal = signal;
    return new Promise(() => undefined);
  };

  beforeEach(() => {
    time = createManualTime();
  });

  it("returns the task's result, cancels its timer and aborts the task's signal", async () => {
    const result = await withDeadline({ time, ms: 100, onTimeout }, async (signal) => {
      taskSignal = signal;
      return 1;
    });
    expect(result).to.equal(1);
    expect(time.waiting()).to.equal(0);
    expect(taskSignal.aborted).to.equal(true);
  });

  it("throws its error when the time has passed, even if the task ignores its signal", async () => {
    const result = rejection(withDeadline({ time, ms: 100, onTimeout }, hang));
    time.advance(100);
    expect(await result).to.equal(late);
    expect(taskSignal.reason).to.equal(late);
  });

  it("throws the signal's reason when it is aborted first", async () => {
    const controller = new AbortController();
    const reason = new Error("aborted");
    const result = rejection(withDeadline({ time, ms: 100, onTimeout, signal: controller.signal }, hang));
    controller.abort(reason);
    expect(await result).to.equal(reason);
    expect(taskSignal.reason).to.equal(reason);
    expect(time.waiting()).to.equal(0);
  });

  it("does not start the task of a signal that is aborted already", async () => {
    const signal = AbortSignal.abort(new Error("aborted"));
    const task = async () => expect.fail("the task has started");
    expect(await rejection(withDeadline({ time, ms: 100, onTimeout, signal }, task))).to.equal(signal.reason);
  });

  it("leaves no listener at the signal, after a result or when the time has passed", async () => {
    const { signal } = new AbortController();
    await withDeadline({ time, ms: 100, onTimeout, signal }, async () => undefined);
    const result = rejection(withDeadline({ time, ms: 100, onTimeout, signal }, hang));
    time.advance(100);
    await result;
    expect(getEventListeners(signal, "abort")).to.be.empty;
  });
});
