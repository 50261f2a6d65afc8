import { expect } from "chai";
import { inTimeSlices } from "../../src/async/time-slices.ts";

describe("time slices", () => {
  let now = 0;
  let turns = 0;
  let nextTurn: NodeJS.Immediate;

  beforeEach(() => {
    now = 0;
    turns = 0;
    const countTurn = (): void => {
      turns += 1;
      nextTurn = setImmediate(countTurn);
    };
    nextTurn = setImmediate(countTurn);
  });
  afterEach(() => clearImmediate(nextTurn));

  const turnsDuring = async (items: number, msPerItem: number): Promise<number> => {
    const passed: number[] = [];
    const before = turns;
    const all = Array.from({ length: items }, (_, index) => index);
    for await (const item of inTimeSlices(all, () => now)) {
      passed.push(item);
      now += msPerItem;
    }
    expect(passed).to.deep.equal(all);
    return turns - before;
  };

  it("let the event loop turn four times after each millisecond of work", async () => {
    expect(await turnsDuring(101, 0.25)).to.be.at.least(4 * 24);
  });

  it("cost no turn for little work", async () => {
    expect(await turnsDuring(100, 0.001)).to.equal(0);
  });
});
