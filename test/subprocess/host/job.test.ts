import { PassThrough } from "node:stream";
import { expect } from "chai";
import type { ToolProcess } from "../../../src/subprocess/host/exit-failure.ts";
import { Job } from "../../../src/subprocess/host/job.ts";
import type { EncoderSpec, JobSpec, Response, ToolSpec } from "../../../src/subprocess/protocol.ts";
import { createManualTime } from "../../support/manual-time.ts";

const limits = { deadlineMs: 300_000, maxOutputBytes: 64 * 1024 * 1024, lowPriority: true };
const tool: ToolSpec = { ...limits, type: "tool", tool: "flite", args: [], output: "pipe" };
const encoder: EncoderSpec = { ...limits, type: "encoder", format: "pcm_44100", sampleRate: 22_050 };
const second = Buffer.alloc(2 * encoder.sampleRate);

/** A job of a process that never ends by itself. */
const startJob = (spec: JobSpec) => {
  const time = createManualTime();
  const sent: Response[] = [];
  const input = new PassThrough().resume();
  const output = new PassThrough();
  const toolProcess: ToolProcess = { input, output, kill: () => output.end() };
  const job = new Job(1, "The tool", toolProcess, spec, (response) => sent.push(response), time);
  return { job, time, output, ended: () => output.writableEnded, sent };
};

describe("The deadline of a job", () => {
  it("kills a tool, whatever its input is", async () => {
    const { job, time, ended, sent } = startJob(tool);
    for (let n = 0; n < 10; n++) job.input(second);
    time.advance(limits.deadlineMs - 1);
    expect(ended()).to.equal(false);
    time.advance(1);
    expect(ended()).to.equal(true);
    await job.finished;
    const message = "The tool did not finish within 300 s.";
    expect(sent.at(-1)).to.include({ type: "failed", job: 1, reason: "deadline", message });
  });

  it("is later by twice the duration of its input for an encoder, whose client may stop reading", async () => {
    const { job, time, ended, sent } = startJob(encoder);
    for (let n = 0; n < 60; n++) job.input(second);
    time.advance(limits.deadlineMs + 2 * 60_000 - 1);
    expect(ended()).to.equal(false);
    time.advance(1);
    await job.finished;
    expect(sent.at(-1)).to.include({ reason: "deadline", message: "The tool did not finish within 420 s." });
  });

  it("never ends an encoder whose output is read at the pace of playback, or at half of it", async () => {
    for (const pace of [1, 0.5]) {
      const { job, time, output, ended, sent } = startJob(encoder);
      // Its input arrives at the pace of its reader.
      for (let n = 0; n < 1_400; n++) {
        job.input(second);
        time.advance(1_000 / pace);
        expect(ended(), `second ${n} at pace ${pace}`).to.equal(false);
      }
      output.end(second);
      await job.finished;
      expect(sent.at(-1)).to.deep.equal({ type: "done", job: 1 });
      expect(time.waiting()).to.equal(0);
    }
  });
});
