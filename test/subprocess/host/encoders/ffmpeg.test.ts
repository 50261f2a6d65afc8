import { expect } from "chai";
import { wavHeader } from "../../../../src/domain/synthesis/wav-header.ts";
import { startFfmpeg } from "../../../../src/subprocess/host/encoders/ffmpeg.ts";

describe("An encoder process", () => {
  it("delivers the output that was not read yet when it exited", async () => {
    const encoder = startFfmpeg("pcm");
    const samples = 100_000;
    encoder.input.end(Buffer.concat([wavHeader(24_000, 2 * samples), Buffer.alloc(2 * samples)]));
    // The whole output fits into the pipe, so that ffmpeg exits before its output is read.
    await encoder.gone;
    let bytes = 0;
    for await (const chunk of encoder.output) bytes += chunk.length;
    expect(bytes).to.equal(2 * samples);
  });
});
