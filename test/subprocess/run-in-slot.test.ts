import { expect } from "chai";
import { createScheduler } from "../../src/async/scheduler/scheduler.ts";
import type { HostProcess } from "../../src/subprocess/host-process.ts";
import type { EncoderSpec } from "../../src/subprocess/protocol.ts";
import { runInSlot } from "../../src/subprocess/run-in-slot.ts";
import { collect } from "../support/collect.ts";
import { createManualTime } from "../support/manual-time.ts";

const never = new AbortController().signal;
const spec: EncoderSpec = {
  type: "encoder",
  format: "pcm_44100",
  sampleRate: 22_050,
  lowPriority: true,
  deadlineMs: 300_000,
  maxOutputBytes: 64 * 1024 * 1024,
};
const second = Buffer.alloc(2 * spec.sampleRate);

/** A helper process that takes the input of a job, and never ends the job. */
const createFrozenHost = () => {
  const { promise: killed, resolve } = Promise.withResolvers<Buffer[]>();
  const { promise: fed, resolve: onFed } = Promise.withResolvers<void>();
  let isKilled = false;
  const start = (_spec: EncoderSpec, input: AsyncIterable<Buffer>) => {
    void collect(input).then(() => onFed());
    const output = (async function* (): AsyncGenerator<Buffer, void> {
      yield* await killed;
    })();
    return { output, reported: () => ({}), settled: killed };
  };
  const kill = (): void => {
    isKilled = true;
    resolve([]);
  };
  const host = { start, kill } as unknown as HostProcess;
  return { host, fed, isKilled: () => isKilled };
};

describe("A job in its slot", () => {
  it("kills a helper that has not ended an encoder after its deadline, which is later by twice the duration of its input", async () => {
    const time = createManualTime();
    const slots = createScheduler({ time }).resource("encoders", {
      concurrency: 1,
      queueLimit: 0,
      queueLimitPerKey: 0,
      queueTimeoutMs: 0,
      keyRetryAfterSeconds: 1,
      overloaded: () => new Error("unexpected"),
    });
    const { host, fed, isKilled } = createFrozenHost();
    const context = { helper: { current: async () => host }, closing: never, graceMs: 5_000, time };
    const minute = async function* () {
      for (let n = 0; n < 60; n++) yield second;
    };
    const reading = collect(runInSlot(context, slots, spec, minute(), never));
    await fed;
    time.advance(spec.deadlineMs + 2 * 60_000 + context.graceMs - 1);
    expect(isKilled()).to.equal(false);
    time.advance(1);
    expect(isKilled()).to.equal(true);
    await reading;
    expect(slots.running()).to.equal(0);
    expect(time.waiting()).to.equal(0);
  });
});
