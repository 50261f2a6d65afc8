import { expect } from "chai";
import { createTimeSlices } from "../../src/async/time-slices.ts";

describe("time slices", () => {
  const msPerItem = 0.25;
  let now: number;
  /** The time of each turn of the event loop. */
  let turns: number[];
  let nextTurn: NodeJS.Immediate;
  let inTimeSlices: ReturnType<typeof createTimeSlices>;

  beforeEach(() => {
    now = 0;
    turns = [];
    const recordTurn = (): void => {
      turns.push(now);
      nextTurn = setImmediate(recordTurn);
    };
    nextTurn = setImmediate(recordTurn);
    inTimeSlices = createTimeSlices({ now: () => now });
  });
  afterEach(() => clearImmediate(nextTurn));

  const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
  const workOn = async (items: number, ms = msPerItem): Promise<void> => {
    const passed: number[] = [];
    for await (const item of inTimeSlices(numbers(items))) {
      passed.push(item);
      now += ms;
    }
    expect(passed).to.deep.equal(numbers(items));
  };

  /** After 25 ms of work and what each reader does before it may have to wait. */
  const expectFourTurnsPerMillisecond = (): void => {
    expect(turns.length).to.be.within(4 * 19, 4 * 26);
    const gaps = turns.map((at, index) => at - (turns[index - 1] ?? at));
    expect(Math.max(...gaps)).to.be.at.most(1 + msPerItem);
  };

  it("let the event loop turn four times after each millisecond of work", async () => {
    await workOn(16 + 100);
    expectFourTurnsPerMillisecond();
  });

  it("cost no turn for little work", async () => {
    await workOn(100, 0.001);
    expect(turns).to.deep.equal([]);
  });

  it("are shared by concurrent readers", async () => {
    // Each works on one item before it notices that the others have used up the slice.
    await Promise.all(numbers(20).map(() => workOn(16 + 125, 0.01)));
    expectFourTurnsPerMillisecond();
  });

  it("are shared by readers that are read alternately", async () => {
    const readers = numbers(4).map(() => inTimeSlices(numbers(16 + 25)));
    for (const _ of numbers(16 + 25)) {
      for (const reader of readers) {
        await reader.next();
        now += msPerItem;
      }
    }
    expect(turns.length).to.be.within(4 * 19, 4 * 26);
  });

  it("let a short read finish during another reader's pause", async () => {
    const long = workOn(100);
    await new Promise(setImmediate);
    const before = turns.length;
    const items: number[] = [];
    for await (const item of inTimeSlices(numbers(16))) items.push(item);
    expect(items).to.deep.equal(numbers(16));
    expect(turns.length).to.equal(before);
    await long;
  });

  it("let a longer read wait for another reader's pause", async () => {
    const long = workOn(100);
    await new Promise(setImmediate);
    const before = turns.length;
    for await (const _ of inTimeSlices(numbers(17)));
    expect(turns.length).to.be.within(before + 2, before + 4);
    await long;
  });

  it("end with the turn of the event loop", async () => {
    for await (const _ of inTimeSlices(numbers(40))) {
      now += 0.9;
      await new Promise(setImmediate);
    }
    expect(turns.length).to.be.at.most(41);
  });

  it("throw the signal's reason after a pause", async () => {
    const abort = new AbortController();
    const passed: number[] = [];
    const read = async (): Promise<void> => {
      for await (const item of inTimeSlices(numbers(100), abort.signal)) {
        passed.push(item);
        now += msPerItem;
        if (item === 20) abort.abort(new Error("enough"));
      }
    };
    const error = await read().catch((reason: unknown) => reason);
    expect(error).to.include({ message: "enough" });
    expect(passed.length).to.be.at.most(26);
  });
});
