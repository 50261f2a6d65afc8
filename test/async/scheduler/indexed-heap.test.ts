import { expect } from "chai";
import fc from "fast-check";
import { IndexedHeap } from "../../../src/async/scheduler/indexed-heap.ts";

interface Item {
  order: number;
}

describe("The indexed heap", () => {
  it("has the first item in front after any insertions, moves and deletions", () =>
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(9), fc.nat(100), fc.nat(3))), (steps) => {
        const items = Array.from({ length: 10 }, () => ({ order: 0 }));
        const present = new Set<Item>();
        const heap = new IndexedHeap<Item>((one, other) => one.order < other.order);
        for (const [index, order, action] of steps) {
          const item = items[index] as Item;
          if (action === 0) {
            heap.delete(item);
            present.delete(item);
          } else {
            item.order = order;
            heap.put(item);
            present.add(item);
          }
          const least = Math.min(...[...present].map((one) => one.order));
          expect(heap.peek()?.order ?? Number.POSITIVE_INFINITY).to.equal(least);
        }
      }),
    ));

  it("compares few items to move one of 10,000", () => {
    let comparisons = 0;
    const heap = new IndexedHeap<Item>((one, other) => {
      comparisons++;
      return one.order < other.order;
    });
    for (let order = 0; order < 10_000; order++) heap.put({ order });
    for (let move = 1; move <= 1000; move++) {
      const first = heap.peek() ?? expect.fail("it has items");
      first.order += (move * 7919) % 10_000;
      comparisons = 0;
      heap.put(first);
      expect(comparisons).to.be.below(2 * Math.log2(10_000) + 2);
    }
  });
});
