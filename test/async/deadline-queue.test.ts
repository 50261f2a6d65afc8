import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect } from "chai";
import { createDeadlineQueue, type Queued } from "../../src/async/deadline-queue.ts";
import { createManualTime } from "../support/manual-time.ts";

interface Item extends Queued<Item> {
  readonly id: number;
}

const itemOf = (id: number): Item => ({ id, queueNode: undefined });

describe("The deadline queue", () => {
  it("expires overdue items in order, and no others", async () => {
    const expired: Item[] = [];
    const queue = createDeadlineQueue<Item>(10, (item) => expired.push(item));
    const all = Array.from({ length: 5 }, (_, id) => itemOf(id));
    for (const item of all) queue.add(item);
    expect(queue.delete(all[1] as Item)).to.equal(true);
    expect(queue.size).to.equal(4);
    await queue.drained();
    await new Promise(setImmediate);
    expect(expired.map(({ id }) => id)).to.deep.equal([0, 2, 3, 4]);
    expect(queue.delete(all[0] as Item)).to.equal(false);
  });

  it("expires each item at its own deadline, also when an item is added while others expire", () => {
    const time = createManualTime();
    const expired: [id: number, at: number][] = [];
    const queue = createDeadlineQueue<Item>(
      100,
      (item) => {
        expired.push([item.id, time.now()]);
        if (item.id === 1) queue.add(itemOf(4));
      },
      time,
    );
    queue.add(itemOf(1));
    time.advance(30);
    queue.add(itemOf(2));
    const third = itemOf(3);
    queue.add(third);
    time.advance(30);
    queue.delete(third);
    time.advance(300);
    expect(expired.map(([id]) => id)).to.deep.equal([1, 2, 4]);
    const [first = 0, second = 0, last = 0] = expired.map(([, at]) => at);
    expect([second - first, last - first]).to.deep.equal([30, 100]);
  });

  it("expires the other items, also if the callback throws, or deletes one of them", () => {
    const time = createManualTime();
    const expired: number[] = [];
    const second = itemOf(2);
    const queue = createDeadlineQueue<Item>(
      100,
      ({ id }) => {
        expired.push(id);
        if (id === 1) queue.delete(second);
        if (id === 3) throw new Error("a failing callback");
      },
      time,
    );
    for (const item of [itemOf(1), second, itemOf(3), itemOf(4)]) queue.add(item);
    expect(() => time.advance(100)).to.throw("a failing callback");
    time.advance(1);
    expect(expired).to.deep.equal([1, 3, 4]);
    expect([queue.size, time.waiting()]).to.deep.equal([0, 0]);
  });

  it("accepts an expired item again, and no item twice", () => {
    const time = createManualTime();
    const expired: number[] = [];
    const queue = createDeadlineQueue<Item>(100, ({ id }) => expired.push(id), time);
    const item = itemOf(1);
    queue.add(item);
    expect(() => queue.add(item)).to.throw("in a queue already");
    time.advance(100);
    queue.add(item);
    time.advance(100);
    expect(expired).to.deep.equal([1, 1]);
  });

  it("is empty as soon as the last item is deleted", async () => {
    const queue = createDeadlineQueue<Item>(60_000, () => expect.fail("no item is overdue"));
    const item = itemOf(1);
    queue.add(item);
    const drained = queue.drained();
    expect(queue.has(item)).to.equal(true);
    queue.delete(item);
    expect(queue.has(item)).to.equal(false);
    await drained;
    await queue.drained();
    expect(queue.size).to.equal(0);
  });

  it("keeps no deleted item in memory until the next major garbage collection", async () => {
    const worker = new Worker(new URL("./promoted-bytes.ts", import.meta.url));
    const [promotedBytes] = await once(worker, "message");
    // All payloads together have 16 MB; 50 of them are in use at any time.
    expect(promotedBytes).to.be.below(4_000_000);
  });
});
