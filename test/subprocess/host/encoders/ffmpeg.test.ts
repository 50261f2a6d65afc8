import { expect } from "chai";
import { unknownSize, wavHeader } from "../../../../src/domain/synthesis/wav-header.ts";
import { startFfmpeg } from "../../../../src/subprocess/host/encoders/ffmpeg.ts";
import { collect } from "../../../support/collect.ts";
import { rejection } from "../../../support/rejection.ts";

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

  it("reports its exit code, or the signal that ended it", async () => {
    const refusing = startFfmpeg("mp3");
    refusing.input.end("no WAV");
    expect(await rejection(collect(refusing.output)))
      .to.have.nested.property("end.exitCode")
      .that.is.above(0);
    const killed = startFfmpeg("mp3");
    killed.input.write(wavHeader(24_000, unknownSize));
    killed.kill();
    expect(await rejection(collect(killed.output))).to.deep.include({
      reason: "killed",
      end: { signal: "SIGKILL" },
    });
  });
});
