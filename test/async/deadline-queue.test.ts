import { expect } from "chai";
import { createDeadlineQueue } from "../../src/async/deadline-queue.ts";

describe("The deadline queue", () => {
  it("expires overdue items in order, and no others", async () => {
    const expired: { id: number }[] = [];
    const queue = createDeadlineQueue<{ id: number }>(10, (item) => expired.push(item));
    const all = Array.from({ length: 5 }, (_, id) => ({ id }));
    for (const item of all) queue.add(item);
    expect(queue.delete(all[1] as { id: number })).to.equal(true);
    expect(queue.size).to.equal(4);
    await queue.drained();
    await new Promise(setImmediate);
    expect(expired.map(({ id }) => id)).to.deep.equal([0, 2, 3, 4]);
    expect(queue.delete(all[0] as { id: number })).to.equal(false);
  });

  it("is empty as soon as the last item is deleted", async () => {
    const queue = createDeadlineQueue<object>(60_000, () => expect.fail("no item is overdue"));
    const item = {};
    queue.add(item);
    const drained = queue.drained();
    expect(queue.has(item)).to.equal(true);
    queue.delete(item);
    await drained;
    await queue.drained();
    expect(queue.size).to.equal(0);
  });
});
