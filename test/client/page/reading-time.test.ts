import { expect } from "chai";
import { ReadingTime } from "../../../src/client/page/player/reading-time.ts";

describe("the time that an article takes to be read", () => {
  it("is estimated until a part was played", () => {
    expect(new ReadingTime().secondsAt(150)).to.equal(10);
  });

  it("is that of the parts that were played, and like these on average for the others", () => {
    const time = new ReadingTime();
    time.record({ charIndex: 0, length: 10, seconds: 2 });
    time.record({ charIndex: 20, length: 10, seconds: 4 });
    expect(time.secondsPerCharacter).to.equal(0.3);
    expect(time.secondsAt(0)).to.equal(0);
    expect(time.secondsAt(5)).to.be.closeTo(1, 1e-9);
    expect(time.secondsAt(10)).to.be.closeTo(2, 1e-9);
    expect(time.secondsAt(20)).to.be.closeTo(2 + 3, 1e-9);
    expect(time.secondsAt(30)).to.be.closeTo(2 + 3 + 4, 1e-9);
    expect(time.secondsAt(100)).to.be.closeTo(9 + 21, 1e-9);
  });

  it("counts a part once that is played again", () => {
    const time = new ReadingTime();
    time.record({ charIndex: 0, length: 10, seconds: 2 });
    time.record({ charIndex: 0, length: 10, seconds: 3 });
    expect(time.secondsAt(20)).to.be.closeTo(6, 1e-9);
    time.record({ charIndex: 10, length: 10, seconds: 0 }); // silence
    expect(time.secondsAt(20)).to.be.closeTo(6, 1e-9);
  });
});
