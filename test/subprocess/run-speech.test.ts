import { expect } from "chai";
import { createScheduler } from "../../src/async/scheduler/scheduler.ts";
import { createWaiter } from "../../src/async/scheduler/waiter.ts";
import type { HostProcess } from "../../src/subprocess/host-process.ts";
import type { Limits, PieceSpec } from "../../src/subprocess/protocol.ts";
import { startRemoteJob, type TextListener } from "../../src/subprocess/remote-job.ts";
import { runSpeech, type SpeechOptions } from "../../src/subprocess/speech/run-speech.ts";
import type { PieceJob, SpeechJob, SpeechPiece } from "../../src/subprocess/speech/speech-job.ts";
import { ToolFailed } from "../../src/subprocess/tools.ts";
import { collect } from "../support/collect.ts";
import { createManualTime } from "../support/manual-time.ts";
import { rejection } from "../support/rejection.ts";

const never = new AbortController().signal;
const limits: Limits = { deadlineMs: 30_000, maxOutputBytes: 1024 };
const job: PieceJob = { type: "tool", tool: "flite", args: [], output: "pipe", input: "One." };
const shape = { gains: [], silence: 0, pauseMs: { before: 0, after: 0 } };
const piece: SpeechPiece = { job, shape, seconds: 1 };

type Job = ReturnType<typeof startRemoteJob>;

/** The helper process of one text, which the test plays. */
const playHost = () => {
  const { promise: started, resolve } = Promise.withResolvers<{ job: Job; listener: TextListener }>();
  let pings = 0;
  let kills = 0;
  let respond = (): void => undefined;
  const host = {
    start: (...[spec, input, signal, listener]: Parameters<HostProcess["start"]>) => {
      const remote = startRemoteJob(0, spec, input, signal, () => undefined, listener);
      if (listener) resolve({ job: remote, listener });
      return remote;
    },
    ping: () => {
      pings++;
      return new Promise<void>((done) => {
        respond = done;
      });
    },
    kill: () => {
      kills++;
    },
  } as unknown as HostProcess;
  return { host, started, respond: () => respond(), pings: () => pings, kills: () => kills };
};

const openSpeech = (more: Partial<SpeechJob> = {}, slotOptions: SpeechOptions = {}) => {
  const time = createManualTime();
  const scheduler = createScheduler({ time });
  const open = (name: string) =>
    scheduler.resource(name, {
      ...{ concurrency: 1, queueLimit: 9, queueLimitPerKey: 9, queueTimeoutMs: 60_000 },
      keyRetryAfterSeconds: 1,
      overloaded: () => new Error("overloaded"),
    });
  const tools = open("speech_tools");
  const encoderSlots = open("encoders");
  const played = playHost();
  const context = { helper: { current: async () => played.host }, closing: never, graceMs: 5_000, time };
  const speechJob: SpeechJob = {
    ...{ pieces: [piece, piece], format: "mp3", progressive: true },
    divide: (_, crash) => Promise.reject(crash),
    ...more,
  };
  const specOf = (): Omit<PieceSpec, "shape"> => {
    const { input, ...tool } = job as Extract<PieceJob, { type: "tool" }>;
    return { job: { ...limits, ...tool, lowPriority: false }, input };
  };
  const speaking = { speechJob, specOf, slotsOf: () => tools, limits, encoderSlots };
  const reading = collect(runSpeech(context, speaking, never, slotOptions));
  reading.catch(() => undefined);
  return { ...played, reading, tools, encoderSlots, time };
};

const dead = new ToolFailed("helper", "The helper has ended.");
const refused = new ToolFailed("refused", "The service has refused it.");
const slotFor = (number: number) => ({ need: "slot", piece: number, isContinuation: true }) as const;

describe("A text, on the service's side", () => {
  it("fails with the refusal that ended it, even if another piece is waiting for a slot", async () => {
    const refusal = new Error("The letter cannot be spoken.");
    const { started, reading, tools, time } = openSpeech({ divide: () => Promise.reject(refusal) });
    const { job, listener } = await started;
    const next = listener.provide(slotFor(1)); // the first one has the only slot
    expect(
      await listener.provide({ need: "parts", piece: 0, failure: { reason: "exit", message: "crashed" } }),
    ).to.include({
      isRefused: true,
    });
    job.settle(refused);
    expect(await rejection(reading)).to.equal(refusal);
    expect(await next).to.include({ isRefused: true });
    expect([tools.running(), tools.queued(), time.waiting()]).to.deep.equal([0, 0, 0]);
  });

  it("releases an encoder's slot that it gets while it ends", async () => {
    const { started, reading, encoderSlots } = openSpeech();
    const { job, listener } = await started;
    const release = await encoderSlots.acquire(createWaiter(), never);
    const granted = listener.provide({ need: "encoder" });
    job.settle(dead);
    release();
    expect(await rejection(reading)).to.equal(dead);
    await granted;
    expect([encoderSlots.running(), encoderSlots.queued()]).to.deep.equal([0, 0]);
  });

  it("is not charged if its model is not started, and reports no use of its model if it is refused", async () => {
    const events: string[] = [];
    const open = new Error("The model is not used for a while.");
    const start = (): never => {
      throw open;
    };
    const beforeStart = async (): Promise<void> => {
      events.push("charged");
      throw new Error("quota");
    };
    const closed = openSpeech({ pieces: [{ ...piece, start }] }, { beforeStart });
    expect(await rejection(closed.reading)).to.equal(open);
    expect(events).to.deep.equal([]);
    const use = {
      succeeded: () => events.push("succeeded"),
      failed: () => events.push("failed"),
      ignored: () => events.push("ignored"),
    };
    const overQuota = openSpeech({ pieces: [{ ...piece, start: () => use }] }, { beforeStart });
    expect(await rejection(overQuota.reading)).to.have.property("message", "quota");
    expect(events).to.deep.equal(["charged", "ignored"]);
    expect([closed.tools.running(), overQuota.tools.running()]).to.deep.equal([0, 0]);
  });

  it("does not end a helper that responds, however long its reader or the queue of encoders takes", async () => {
    const { started, reading, time, respond, pings, kills } = openSpeech();
    const { job, listener } = await started;
    listener.onSpoken({ piece: 0 });
    const hour = 120;
    for (let halfMinute = 0; halfMinute < hour; halfMinute++) {
      time.advance(30_000);
      respond();
      await Promise.resolve();
    }
    expect([pings(), kills()]).to.deep.equal([hour, 0]);
    job.settle(dead);
    await rejection(reading);
    expect(time.waiting()).to.equal(0);
  });

  it("ends a helper that does not respond while no piece is spoken", async () => {
    const { started, reading, time, kills } = openSpeech();
    const { job, listener } = await started;
    listener.onSpoken({ piece: 0 });
    time.advance(60_000 - 1);
    expect(kills()).to.equal(0);
    time.advance(1);
    expect(kills()).to.equal(1);
    job.settle(dead);
    expect(await rejection(reading)).to.equal(dead);
  });

  it("ends a helper that has not ended a piece after its deadline", async () => {
    const { started, reading, time, respond, kills } = openSpeech();
    const { job } = await started;
    time.advance(30_000);
    respond();
    await Promise.resolve();
    time.advance(5_000);
    expect(kills()).to.equal(1);
    job.settle(dead);
    expect(await rejection(reading)).to.equal(dead);
    expect(time.waiting()).to.equal(0);
  });
});
