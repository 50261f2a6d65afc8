import { expect } from "chai";
import { ReadingProgress } from "../../../src/client/page/player/reading-progress.ts";

/** The article has three parts of 100 characters. */
const open = (): ReadingProgress => {
  const progress = new ReadingProgress();
  progress.setLength(300);
  return progress;
};
const part = (charIndex: number, startAt = 0) => ({ charIndex, length: 100, startAt });

describe("the progress of a reading", () => {
  it("counts the seconds of audio, however long they took", () => {
    const progress = open();
    progress.startPart(part(0), 0, 0);
    progress.measure({ seconds: 2, duration: 8 }, 1_000);
    progress.measure({ seconds: 2, duration: 8 }, 60_000); // stalled
    expect(progress.seconds).to.equal(2);
    expect(progress.stoodFor(60_000)).to.equal(59_000);
    progress.measure({ seconds: 5, duration: 8 }, 61_000);
    expect([progress.seconds, progress.charIndex]).to.deep.equal([5, 62.5]);
    expect(progress.stoodFor(61_000)).to.equal(0);
  });

  it("counts a part to its end, and nothing of the next one before it is audible", () => {
    const progress = open();
    progress.startPart(part(0), 0, 0);
    progress.measure({ seconds: 7.9, duration: 8 }, 0);
    progress.endPart(0);
    progress.measure({ seconds: 0, duration: 3 }, 0);
    progress.measure({ seconds: 0.2, duration: 3 }, 0);
    expect(progress.seconds).to.equal(8);
    progress.startPart(part(100), 0.2, 0);
    progress.measure({ seconds: 0.5, duration: 3 }, 0);
    expect(progress.seconds).to.be.closeTo(8.3, 1e-9);
  });

  it("refines the whole time, but never turns the elapsed time back", () => {
    const progress = open();
    expect(progress.totalSeconds).to.equal(20); // estimated
    progress.startPart(part(0), 0, 0);
    progress.measure({ seconds: 4, duration: 4 }, 0);
    progress.endPart(0);
    expect(progress.seconds).to.equal(4);
    expect(progress.totalSeconds).to.be.closeTo(12, 1e-9);
    progress.leavePart();
    progress.startPart(part(0), 0, 0); // a browser's voice begins the part again
    expect(progress.seconds).to.equal(4);
  });

  it("counts from the word at which a part begins", () => {
    const progress = open();
    progress.moveTo(150);
    expect(progress.seconds).to.equal(10);
    progress.startPart(part(100, 50), 3, 0);
    expect(progress.charIndex).to.equal(150);
    progress.measure({ seconds: 4, duration: 6 }, 0);
    expect(progress.seconds).to.equal(11);
    progress.setWord({ charIndex: 170, charLength: 4 });
    progress.leavePart();
    expect([progress.charIndex, progress.seconds]).to.deep.equal([170, 11]);
  });

  it("counts the time that passes for a voice without a position", () => {
    const progress = open();
    progress.startPart(part(0), 0, 1_000);
    progress.measureTime(2, 1_500);
    expect(progress.seconds).to.equal(1);
  });

  it("finds the place of a time", () => {
    const progress = open();
    expect(progress.charIndexAt(10)).to.equal(150);
    expect(progress.charIndexAt(0)).to.equal(0);
    expect(progress.charIndexAt(1_000)).to.equal(299);
  });
});
