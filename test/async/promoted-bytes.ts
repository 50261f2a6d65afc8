/**
 * A worker thread, because its heap holds nothing else: adds items to a deadline queue, deletes
 * them, and posts the number of bytes that they have left in the old generation.
 */
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { parentPort } from "node:worker_threads";
import { createDeadlineQueue, type Queued } from "../../src/async/deadline-queue.ts";

interface Item extends Queued<Item> {
  readonly payload: readonly number[];
}

setFlagsFromString("--expose-gc");
const collect: (options: { type: "minor" | "major" }) => void = runInNewContext("gc");

const oldBytes = (): number =>
  getHeapSpaceStatistics().find((space) => space.space_name === "old_space")?.space_used_size ?? 0;

const itemOf = (id: number): Item => ({ payload: new Array(100).fill(id), queueNode: undefined });

const queue = createDeadlineQueue<Item>(60_000, () => {
  throw new Error("no item is overdue");
});
const items = Array.from({ length: 50 }, (_, id) => itemOf(id));
for (const item of items) queue.add(item);
collect({ type: "major" });
const before = oldBytes();
for (let id = 0; id < 20_000; id++) {
  queue.delete(items.shift() as Item);
  const item = itemOf(id);
  items.push(item);
  queue.add(item);
  if (id % 500 === 0) collect({ type: "minor" });
}
for (const item of items) queue.delete(item);
parentPort?.postMessage(oldBytes() - before);
