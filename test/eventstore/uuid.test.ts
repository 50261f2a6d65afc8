import { expect } from "chai";
import { uuidv7 } from "../../src/eventstore/uuid.ts";

const some = (now: (n: number) => number, count = 20_000): string[] =>
  Array.from({ length: count }, (_, n) => uuidv7(now(n)));

describe("a version 7 UUID", () => {
  it("contains its time", () => {
    const now = Date.UTC(2100, 0, 1);
    const id = uuidv7(now);
    expect(id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(Number.parseInt(id.replace("-", "").slice(0, 12), 16)).to.equal(now);
  });

  const clocks: [string, (n: number) => number][] = [
    ["stands still", () => Date.UTC(2101, 0, 1)],
    ["runs", (n) => Date.UTC(2102, 0, 1) + n / 50],
    ["steps back", (n) => Date.UTC(2103, 0, 1) - n],
  ];
  for (const [does, clock] of clocks) {
    it(`is greater than the previous one when the clock ${does}`, () => {
      const ids = some(clock);
      expect(ids).to.deep.equal(ids.toSorted());
      expect(new Set(ids).size).to.equal(ids.length);
    });
  }

  it("has a random part", () => {
    const tails = some(() => 0).map((id) => id.slice(-12));
    expect(new Set(tails).size).to.equal(tails.length);
  });
});
