import { expect } from "chai";
import { createWaitingLine } from "../../src/async/deadline-queue.ts";

describe("the waiting line", () => {
  it("sends away in order those who have waited too long, and nobody else", async () => {
    const sentAway: { id: number }[] = [];
    const line = createWaitingLine<{ id: number }>(10, (one) => sentAway.push(one));
    const all = Array.from({ length: 5 }, (_, id) => ({ id }));
    for (const one of all) line.join(one);
    expect(line.leave(all[1] as { id: number })).to.equal(true);
    expect(line.size).to.equal(4);
    await line.empty();
    await new Promise(setImmediate);
    expect(sentAway.map(({ id }) => id)).to.deep.equal([0, 2, 3, 4]);
    expect(line.leave(all[0] as { id: number })).to.equal(false);
  });

  it("is empty as soon as the last has left", async () => {
    const line = createWaitingLine<object>(60_000, () => expect.fail("nobody is overdue"));
    const one = {};
    line.join(one);
    const emptied = line.empty();
    expect(line.has(one)).to.equal(true);
    line.leave(one);
    await emptied;
    await line.empty();
    expect(line.size).to.equal(0);
  });
});
