import { expect } from "chai";
import { unknownSize, wavHeader } from "../../src/domain/synthesis/wav-header.ts";
import { type PieceListener, speakPieces } from "../../src/subprocess/speech/speak-pieces.ts";
import { ToolFailed } from "../../src/subprocess/tools.ts";
import { collect } from "../support/collect.ts";
import { rejection } from "../support/rejection.ts";

const never = new AbortController().signal;
const shape = { gains: [], silence: 0, pauseMs: { before: 0, after: 0 } };
const piece = { number: 0, shape, job: { type: "tool" } };
const sample = Buffer.from([1, 0]);

describe("The pieces of a text", () => {
  it("end a tool that is stopped while nobody reads its samples, and fail with its failure", async () => {
    const full = Promise.withResolvers<PieceListener>();
    const ended = Promise.withResolvers<void>();
    let made = 0;
    async function* endless(listener: PieceListener): AsyncGenerator<Buffer, void> {
      try {
        yield wavHeader(8_000, unknownSize);
        setTimeout(full.resolve, 0, listener);
        for (;;) {
          made++;
          yield sample;
        }
      } finally {
        ended.resolve();
      }
    }
    const say = (...[, , , listener]: [unknown, unknown, unknown, PieceListener]) => endless(listener);
    const divide = (_: unknown, crash: Error) => Promise.reject(crash);
    const { pcm } = await speakPieces([piece], { progressive: true, say, divide }, never);
    const { onStop } = await full.promise;
    const late = new ToolFailed("deadline", "The tool did not finish.");
    onStop(late);
    await ended.promise;
    expect(made).to.be.below(10_000);
    expect(await rejection(collect(pcm))).to.equal(late);
  });
});
